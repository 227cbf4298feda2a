/* Debugging by name: source lines, call frames, variables, expressions, breakpoints with conditions.
 *
 * Over the debugger of penta/session.h, for front ends that know no format. What a format does not
 * have is absent and not an error: a program without line tables has no lines, a machine without
 * calls one frame.
 *
 * The rules of penta.h hold: buffers are appended to, a failed call leaves them as they were, `err`
 * is cleared first. */
#pragma once
#include "penta/session.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the code ---- */

typedef struct penta_line { /* instructions of one source line without a gap */
    penta_bytes file;       /* as the table has it; valid as long as the module */
    uint64_t line;
    uint64_t from, to; /* pcs; `to` is after the last */
} penta_line;
typedef void penta_line_report(void *user, const penta_line *line);

/* The line table, in any order. */
PENTA_API void penta_lines(const penta_module *module, penta_line_report *report, void *user);
/* The line of an instruction; false: not known. */
PENTA_API bool penta_line_at(const penta_module *module, uint64_t pc, penta_line *line);

/* The pc that a text means: a number, NAME or NAME+NUMBER of a function, label or export, or
 * FILE:LINE, where the end of the file's path is enough and the line may be one before the first
 * that has code. */
PENTA_API bool penta_find_code(const penta_module *module, const char *text, uint64_t *pc,
                               penta_error *err);
/* The function or label that the instruction belongs to, as NAME or NAME+NUMBER. False: none. */
PENTA_API bool penta_name_at(const penta_module *module, uint64_t pc, penta_buffer *out);

typedef enum penta_flow { PENTA_FLOW_NEXT, PENTA_FLOW_CALL, PENTA_FLOW_RETURN } penta_flow;
/* What the instruction does to the calls; NEXT also where none is. */
PENTA_API penta_flow penta_flow_at(const penta_module *module, uint64_t pc);

/* ---- the machine ---- */

typedef struct penta_frame {
    uint64_t pc;    /* of the next instruction; in the frames outside, of the call */
    uint64_t depth; /* more in a call than outside of it; to compare frames of one machine */
} penta_frame;
/* The calls that are open, innermost first: how many are known, of which at most max are stored.
 * Machines that keep no return addresses of their own (pvm) are asked for what their code saved. */
PENTA_API size_t penta_vm_frames(const penta_vm *vm, penta_frame *frames, size_t max);

typedef enum penta_variable_scope {
    PENTA_VARIABLE_REGISTER,
    PENTA_VARIABLE_LOCAL, /* of the frame, where it is in scope */
    PENTA_VARIABLE_GLOBAL,
} penta_variable_scope;
typedef struct penta_variable { /* borrowed during the callback */
    penta_variable_scope scope;
    penta_field value; /* with its name; note: its type, or NULL */
    bool in_memory;    /* then it is at */
    uint64_t address;
    uint64_t size;     /* bytes, of all elements */
    uint64_t elements; /* of an array, whose first one is the value; else 0 */
} penta_variable;
typedef void penta_variable_report(void *user, const penta_variable *variable);

/* Registers and variables of a frame, 0 being the innermost. */
PENTA_API void penta_vm_variables(const penta_vm *vm, size_t frame, penta_variable_report *report,
                                  void *user);

typedef struct penta_child { /* of a value that has others in it; borrowed during the callback */
    const char *name;        /* NAME, NAME[i] in a list, the number of an element */
    const char *expression;  /* what penta_vm_eval and penta_debugger_set take for it */
    bool inner, list;        /* it has children itself; list: they are items */
    uint64_t items;          /* of a list: how many it has; 0: not known */
    penta_field value;       /* of one that is not inner */
} penta_child;
typedef void penta_child_report(void *user, const penta_child *child);

/* What is in a node of the machine's tree (penta_vm_describe), by its path; "": the whole state. At most count
 * children from start on. False: no node has this path, or memory ran out. */
PENTA_API bool penta_vm_children(const penta_vm *vm, const char *path, uint64_t start,
                                 uint64_t count, penta_child_report *report, void *user,
                                 penta_error *err);
/* The elements of a variable that is an array (elements is not 0), the same. False: one is not mapped. */
PENTA_API bool penta_vm_elements(const penta_vm *vm, const penta_variable *array, uint64_t start,
                                 uint64_t count, penta_child_report *report, void *user,
                                 penta_error *err);

typedef struct penta_access { /* something that an instruction reads or writes */
    bool write;               /* else it reads it */
    bool host;                /* the host may write anything; nothing else is set */
    const char *name; /* of a register, or of a variable that is not in memory; NULL: memory */
    uint64_t address, size; /* of memory */
    bool moves;             /* its address depends on the state of the machine */
} penta_access;
typedef void penta_access_report(void *user, const penta_access *access);
/* What the instruction at pc reads and writes if it is the next one. Some machines tell nothing of
 * memory: they stop by themselves when watched memory is accessed. */
PENTA_API void penta_vm_accesses(const penta_vm *vm, uint64_t pc, penta_access_report *report,
                                 void *user);

typedef struct penta_region {
    uint64_t address, size;
    bool writable;
} penta_region;
typedef void penta_region_report(void *user, const penta_region *region);
/* Memory that is mapped, or may be later without the host's doing (a heap that grows), in the order
 * of addresses, disjoint. */
PENTA_API void penta_vm_regions(const penta_vm *vm, penta_region_report *report, void *user);

/* The values at or below a path of penta_vm_describe ("/registers/a0"), as text with spaces between
 * them. False: nothing has this path. */
PENTA_API bool penta_vm_value(const penta_vm *vm, const char *path, penta_buffer *out);

/* ---- expressions ---- */

typedef struct penta_value {
    penta_kind kind; /* UINT, WORD, SINT, FLOAT or BOOL */
    union {
        uint64_t u;
        int64_t i;
        double f;
    } as;
} penta_value;

/* The value of an expression, as in C: || && | ^ & == != < <= > >= << >> + - * / % ! ~ - ( ), with
 *
 *     12 0x2a 1.5       numbers
 *     a0 $a0 count %1   registers and variables of the innermost frame; then pc, gas and what else
 *                       the state has at its top; then functions and labels, which are their pcs
 *     'odd name'        the same in quotes
 *     /registers/a0     a value of the machine's tree
 *     u8[E] i32[E] ...  memory at the address E: u or i with 8, 16, 32 or 64 bits, f32 or f64
 *
 * Integers have 64 bits and wrap; comparisons and divisions are signed when one side is. */
PENTA_API bool penta_vm_eval(const penta_vm *vm, const char *expression, penta_value *value,
                             penta_error *err);
/* As a person reads it; base 10 or 16, 0: by its kind. */
PENTA_API bool penta_value_text(const penta_value *value, unsigned base, penta_buffer *out);
PENTA_API bool penta_value_is_true(const penta_value *value); /* not 0 */

/* ---- changing the machine ---- */

/* Gives a register, a variable, by its name or its path in the tree, or memory (u32[E]) a value. The run from here on is another one:
 * what the debugger recorded after this step is forgotten, and going back and forth repeats the
 * change. False: it is none of these, or cannot be set. */
PENTA_API bool penta_debugger_set(penta_debugger *debugger, const char *what,
                                  const penta_value *value, penta_error *err);

/* ---- points: breakpoints and watches with conditions ---- */

typedef enum penta_point_kind {
    PENTA_POINT_BREAK, /* before an instruction */
    PENTA_POINT_WATCH, /* after an instruction that changes a value */
    /* After an instruction that reads, that writes, or that does either; the host's writes count
     * when they change something. */
    PENTA_POINT_READ,
    PENTA_POINT_WRITE,
    PENTA_POINT_ACCESS,
} penta_point_kind;

typedef struct penta_point {
    unsigned number; /* from 1 on, never used again; set by penta_debugger_point_add */
    penta_point_kind kind;
    const char *what;      /* of a break a place as in penta_find_code; of a watch an expression, or
                              what penta_debugger_watch takes; for reads and writes a
                              register, a variable, u32[E] or ADDRESS:LENGTH */
    uint64_t pc;           /* of a break, set by penta_debugger_point_add */
    const char *condition; /* an expression that must be true; NULL: none */
    const char *log;       /* text to report instead of stopping, {EXPRESSION} in it is replaced by
                              its value; NULL: it stops */
    uint64_t ignore;       /* hits to let pass before the first that counts */
    uint64_t hits;         /* so far, counting only those whose condition was true */
    bool disabled, once;   /* once: removed when it stops a run */
} penta_point;

/* Strings are copied. False: the place, expression or condition cannot be read, and *number is 0. */
PENTA_API bool penta_debugger_point_add(penta_debugger *debugger, const penta_point *point,
                                        unsigned *number, penta_error *err);
/* condition, log, ignore and disabled become those of the point with this number. */
PENTA_API bool penta_debugger_point_change(penta_debugger *debugger, const penta_point *point,
                                           penta_error *err);
PENTA_API bool penta_debugger_point_remove(penta_debugger *debugger, unsigned number);
/* In the order in which they were added; NULL beyond the last. Valid until one is changed. */
PENTA_API const penta_point *penta_debugger_point_at(const penta_debugger *debugger, size_t i);
/* The number of the point that stopped the last run, or 0. */
PENTA_API unsigned penta_debugger_point_hit(const penta_debugger *debugger);
/* Told what points log, and of a condition that could not be evaluated, which stops. */
typedef void penta_log_report(void *user, unsigned number, penta_bytes text);
PENTA_API void penta_debugger_on_log(penta_debugger *debugger, penta_log_report *report,
                                     void *user);

/* ---- motions; marks, points and watches stop them ---- */

/* Asked when penta_vm_interrupt ends a run under way: true, and it goes on. */
typedef bool penta_interrupt_ask(void *user);
PENTA_API void penta_debugger_on_interrupt(penta_debugger *debugger, penta_interrupt_ask *ask,
                                           void *user);

/* For who cannot interrupt a machine that runs: next, finish and until below end after so many steps
 * with PENTA_STOP_INTERRUPT, and penta_debugger_resume goes on with the one that ended so. 0: no limit.
 * resume is false with an error when there is none, or the machine has moved since. */
PENTA_API void penta_debugger_limit(penta_debugger *debugger, uint64_t steps);
PENTA_API bool penta_debugger_resume(penta_debugger *debugger, penta_stop *stop, penta_error *err);

/* One instruction; a call with all that it does. */
PENTA_API bool penta_debugger_next(penta_debugger *debugger, penta_stop *stop, penta_error *err);
/* To the start of the next source line; `over`: of this call or of one outside, else also of one that it
 * makes. False with an error: the next instruction has no line. */
PENTA_API bool penta_debugger_step_line(penta_debugger *debugger, bool over, penta_stop *stop,
                                        penta_error *err);
/* Until the innermost call has returned. False with an error: no call is open. */
PENTA_API bool penta_debugger_finish(penta_debugger *debugger, penta_stop *stop, penta_error *err);
/* Until the instruction at pc is next. False with an error: none starts there. */
PENTA_API bool penta_debugger_until(penta_debugger *debugger, uint64_t pc, penta_stop *stop,
                                    penta_error *err);
/* Back to the last state before this one in which a mark, point or watch would have stopped a run
 * forwards, or to the start: then stop->kind is FUEL. */
PENTA_API bool penta_debugger_reverse(penta_debugger *debugger, penta_stop *stop, penta_error *err);
/* The last instruction before this state that changed a value, which is written as for a watch:
 * *step is that of the state before it, *pc its own. The machine stays where it is. False without a
 * code in err: it did not change since the start. */
PENTA_API bool penta_debugger_last_change(penta_debugger *debugger, const char *what,
                                          uint64_t *step, uint64_t *pc, penta_error *err);

#ifdef __cplusplus
}
#endif
