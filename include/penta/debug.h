/* Debugs by name: source lines, call frames, variables, expressions, breakpoints with
 * conditions.
 *
 * These functions use the debugger of penta/session.h and are for front ends that know no
 * format. A thing that a format does not have is absent and not an error: a program without line
 * tables has no lines, a machine without calls has one frame.
 *
 * The rules of penta.h hold: buffers are appended to, a failed call leaves them as they were,
 * `err` is cleared first. */
#pragma once
#include "penta/session.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The declarations below are about the code. */

/* A penta_line is a sequence of instructions of one source line, without a gap. */
typedef struct penta_line {
    penta_bytes file; /* the file's name as the table has it, valid as long as the module */
    uint64_t line;
    /* `from` and `to` are the pcs at which the sequence starts and ends; `to` is after its last
     * instruction. */
    uint64_t from, to;
} penta_line;
typedef void penta_line_report(void *user, const penta_line *line);

/* Reports the line table, in any order. */
PENTA_API void penta_lines(const penta_module *module, penta_line_report *report, void *user);
/* Gives the line of an instruction. Returns false when it is not known. */
PENTA_API bool penta_line_at(const penta_module *module, uint64_t pc, penta_line *line);

/* Finds the pc that a text means: a number, NAME or NAME+NUMBER of a function, label or export,
 * or FILE:LINE. Of the file's path the end is enough; a line without code stands for the next
 * line that has code. */
PENTA_API bool penta_find_code(const penta_module *module, const char *text, uint64_t *pc,
                               penta_error *err);
/* Appends the function or label to which the instruction belongs, as NAME or NAME+NUMBER.
 * Returns false when there is none. */
PENTA_API bool penta_name_at(const penta_module *module, uint64_t pc, penta_buffer *out);

typedef enum penta_flow { PENTA_FLOW_NEXT, PENTA_FLOW_CALL, PENTA_FLOW_RETURN } penta_flow;
/* Tells whether the instruction calls a function or returns from one. Where no instruction is,
 * the result is PENTA_FLOW_NEXT. */
PENTA_API penta_flow penta_flow_at(const penta_module *module, uint64_t pc);

/* The declarations below are about the machine. */

typedef struct penta_frame {
    uint64_t pc; /* the pc of the next instruction; in the frames of callers that of the call */
    /* `depth` is larger in a call than outside of it, to compare frames of one machine. */
    uint64_t depth;
} penta_frame;
/* Finds the calls that are open, the innermost first. Stores at most `max`, and returns how many
 * are known. For machines that keep no return addresses themselves (pvm), frames are found by
 * the addresses that the code has saved. */
PENTA_API size_t penta_vm_frames(const penta_vm *vm, penta_frame *frames, size_t max);

typedef enum penta_variable_scope {
    PENTA_VARIABLE_REGISTER,
    PENTA_VARIABLE_LOCAL, /* The variable belongs to the frame and is in scope. */
    PENTA_VARIABLE_GLOBAL,
} penta_variable_scope;
typedef struct penta_variable { /* A variable is borrowed during the callback. */
    penta_variable_scope scope;
    penta_field value; /* the value with the variable's name; its note is the type, or NULL */
    bool in_memory;    /* The variable is in memory, at `address`. */
    uint64_t address;
    uint64_t size; /* the size of all elements in bytes */
    /* `elements` says how many elements an array has, of which `value` is the first, or 0 for
     * other variables. */
    uint64_t elements;
} penta_variable;
typedef void penta_variable_report(void *user, const penta_variable *variable);

/* Reports registers and variables of a frame; frame 0 is the innermost. */
PENTA_API void penta_vm_variables(const penta_vm *vm, size_t frame, penta_variable_report *report,
                                  void *user);

/* A penta_child is a part of a value that has parts; it is borrowed during the callback. */
typedef struct penta_child {
    const char *name; /* the name: NAME, NAME[i] in a list, or the number of an element */
    /* `expression` is the expression by which penta_vm_eval and penta_debugger_set know the
     * child. */
    const char *expression;
    bool inner, list;  /* inner: the child has children itself; list: these are items */
    uint64_t items;    /* how many items a list has; 0: that is not known */
    penta_field value; /* the value of a child that is not inner */
} penta_child;
typedef void penta_child_report(void *user, const penta_child *child);

/* Reports the children of a node of the machine's tree (penta_vm_describe), which is given by
 * its path; "" is the whole state. At most `count` children are reported, from `start` on.
 * Returns false when no node has this path, or memory ran out. */
PENTA_API bool penta_vm_children(const penta_vm *vm, const char *path, uint64_t start,
                                 uint64_t count, penta_child_report *report, void *user,
                                 penta_error *err);
/* Reports the elements of a variable that is an array (its `elements` is not 0), as
 * penta_vm_children does. Returns false when an element is not mapped. */
PENTA_API bool penta_vm_elements(const penta_vm *vm, const penta_variable *array, uint64_t start,
                                 uint64_t count, penta_child_report *report, void *user,
                                 penta_error *err);

typedef struct penta_access { /* A penta_access is something that an instruction reads or writes. */
    bool write;               /* true for a write, false for a read */
    bool host;                /* The host may write anything; no other member is set then. */
    /* `name` is the name of a register, or of a variable that is not in memory; NULL stands for
     * memory. */
    const char *name;
    uint64_t address, size; /* the bytes of memory */
    bool moves;             /* The address depends on the state of the machine. */
} penta_access;
typedef void penta_access_report(void *user, const penta_access *access);
/* Reports what the instruction at pc reads and writes if it is the next one. Some machines
 * report nothing about memory: they stop by themselves when watched memory is accessed. */
PENTA_API void penta_vm_accesses(const penta_vm *vm, uint64_t pc, penta_access_report *report,
                                 void *user);

typedef struct penta_region {
    uint64_t address, size;
    bool writable;
} penta_region;
typedef void penta_region_report(void *user, const penta_region *region);
/* Reports memory that is mapped, or may be later without the host's doing (a heap that grows).
 * Regions come in the order of addresses and do not overlap. */
PENTA_API void penta_vm_regions(const penta_vm *vm, penta_region_report *report, void *user);

/* Appends the values at or below a path of penta_vm_describe ("/registers/a0"), as text with
 * spaces between them. Returns false when nothing has this path. */
PENTA_API bool penta_vm_value(const penta_vm *vm, const char *path, penta_buffer *out);

/* The declarations below are about expressions. */

typedef struct penta_value {
    penta_kind kind; /* the kind: UINT, WORD, SINT, FLOAT or BOOL */
    union {
        uint64_t u;
        int64_t i;
        double f;
    } as;
} penta_value;

/* Computes the value of an expression, which is written as in C: || && | ^ & == != < <= > >= <<
 * >> + - * / % ! ~ - ( ), with
 *
 *     12 0x2a 1.5       numbers
 *     a0 $a0 count %1   registers and variables of the innermost frame; then pc, gas and what else
 *                       the state has at its top; then functions and labels, which are their pcs
 *     'odd name'        a name with other characters, in quotes
 *     /registers/a0     a value of the machine's tree
 *     u8[E] i32[E] ...  memory at the address E: u or i with 8, 16, 32 or 64 bits, f32 or f64
 *
 * Integers have 64 bits and wrap; comparisons and divisions are signed when one side is. */
PENTA_API bool penta_vm_eval(const penta_vm *vm, const char *expression, penta_value *value,
                             penta_error *err);
/* Appends a value as a person reads it. `base` is 10 or 16, or 0 to let the kind decide. */
PENTA_API bool penta_value_text(const penta_value *value, unsigned base, penta_buffer *out);
/* Tells whether the value is not 0. */
PENTA_API bool penta_value_is_true(const penta_value *value);

/* The function below changes the machine. */

/* Sets a register, a variable or memory. `what` is the name of a register or variable, its path
 * in the tree, or memory such as u32[E]. The run from here on is another one: what the debugger
 * recorded after this step is forgotten, and going back and forth repeats the change. Returns
 * false when `what` is none of these, or cannot be set. */
PENTA_API bool penta_debugger_set(penta_debugger *debugger, const char *what,
                                  const penta_value *value, penta_error *err);

/* The declarations below are about points, which are breakpoints and watches with conditions. */

typedef enum penta_point_kind {
    PENTA_POINT_BREAK, /* The point stops before an instruction. */
    PENTA_POINT_WATCH, /* The point stops after an instruction that changes a value. */
    /* These points stop after an instruction that reads, that writes, or that does either; the
     * host's writes count when they change something. */
    PENTA_POINT_READ,
    PENTA_POINT_WRITE,
    PENTA_POINT_ACCESS,
} penta_point_kind;

typedef struct penta_point {
    /* `number` counts from 1 on and is never used again; penta_debugger_point_add sets it. */
    unsigned number;
    penta_point_kind kind;
    /* For a break `what` is a place as in penta_find_code; for a watch an expression, or what
     * penta_debugger_watch takes; for reads and writes a register, a variable, u32[E] or
     * ADDRESS:LENGTH. */
    const char *what;
    uint64_t pc;           /* the pc of a break, which penta_debugger_point_add sets */
    const char *condition; /* an expression that must be true; NULL: there is none */
    /* `log` is the text that is reported instead of stopping, in which {EXPRESSION} is replaced
     * by its value; NULL means that the point stops. */
    const char *log;
    uint64_t ignore;     /* how many hits pass before the first one that counts */
    uint64_t hits;       /* how many hits there were so far whose condition was true */
    bool disabled, once; /* once: the point is removed when it stops a run */
} penta_point;

/* Adds a point, whose strings are copied. Returns false when the place, expression or condition
 * cannot be read; *number is 0 then. */
PENTA_API bool penta_debugger_point_add(penta_debugger *debugger, const penta_point *point,
                                        unsigned *number, penta_error *err);
/* Changes the point with the number of `point`: condition, log, ignore and disabled become those
 * of `point`. */
PENTA_API bool penta_debugger_point_change(penta_debugger *debugger, const penta_point *point,
                                           penta_error *err);
PENTA_API bool penta_debugger_point_remove(penta_debugger *debugger, unsigned number);
/* Returns point i, in the order in which they were added, or NULL beyond the last. It is valid
 * until a point is changed. */
PENTA_API const penta_point *penta_debugger_point_at(const penta_debugger *debugger, size_t i);
/* Returns the number of the point that stopped the last run, or 0. */
PENTA_API unsigned penta_debugger_point_hit(const penta_debugger *debugger);
/* Sets a function that gets what points log. It also learns of a condition that could not be
 * evaluated, which stops the run. */
typedef void penta_log_report(void *user, unsigned number, penta_bytes text);
PENTA_API void penta_debugger_on_log(penta_debugger *debugger, penta_log_report *report,
                                     void *user);

/* The functions below move the machine. Marks, points and watches stop them. */

/* Sets a function that is asked when penta_vm_interrupt ends a run. When it returns true, the
 * run goes on. */
typedef bool penta_interrupt_ask(void *user);
PENTA_API void penta_debugger_on_interrupt(penta_debugger *debugger, penta_interrupt_ask *ask,
                                           void *user);

/* penta_debugger_limit is for callers that cannot interrupt a machine that runs. The functions
 * next, finish and until below end after so many steps with PENTA_STOP_INTERRUPT, and
 * penta_debugger_resume goes on with the one that ended so. A limit of 0 means none.
 * penta_debugger_resume returns false with an error when there is no such function, or the
 * machine has moved since. */
PENTA_API void penta_debugger_limit(penta_debugger *debugger, uint64_t steps);
PENTA_API bool penta_debugger_resume(penta_debugger *debugger, penta_stop *stop, penta_error *err);

/* Runs one instruction; if it is a call, with everything that the call does. */
PENTA_API bool penta_debugger_next(penta_debugger *debugger, penta_stop *stop, penta_error *err);
/* Runs to the start of the next source line. With `over` it is one of this call or of a caller;
 * without it, it may also be one of a function that is called. Returns false with an error when
 * the next instruction has no line. */
PENTA_API bool penta_debugger_step_line(penta_debugger *debugger, bool over, penta_stop *stop,
                                        penta_error *err);
/* Runs until the innermost call has returned. Returns false with an error when no call is open. */
PENTA_API bool penta_debugger_finish(penta_debugger *debugger, penta_stop *stop, penta_error *err);
/* Runs until the instruction at pc is next. Returns false with an error when none starts there. */
PENTA_API bool penta_debugger_until(penta_debugger *debugger, uint64_t pc, penta_stop *stop,
                                    penta_error *err);
/* Goes back to the last state before this one in which a mark, point or watch would have stopped
 * a forward run, or to the start: then stop->kind is FUEL. */
PENTA_API bool penta_debugger_reverse(penta_debugger *debugger, penta_stop *stop, penta_error *err);
/* Finds the last instruction before this state that changed a value, which is written as for a
 * watch. *step is the step of the state before the instruction, *pc its pc. The machine stays
 * where it is. Returns false without a code in `err` when the value has not changed since the
 * start. */
PENTA_API bool penta_debugger_last_change(penta_debugger *debugger, const char *what,
                                          uint64_t *step, uint64_t *pc, penta_error *err);

#ifdef __cplusplus
}
#endif
