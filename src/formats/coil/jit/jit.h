/* The compiler of COIL and its run time, over src/ssa.
 *
 * Loading has resolved every function to cells and steps. The compiler makes SSA form of each
 * function (flow.c, lower*.c) and native code of that (compile.c). Compiled code only makes the
 * same machine faster: the interpreter's own function for an instruction does what is rare.
 * Whenever a run stops, the machine's state is written back from the registers and frames of native
 * code (state.c), so that the interpreter can go on from there.
 *
 *     R15   the machine, struct coil_jit       R14   guest address 0
 *     RBP   frames of native functions: spilled values, nothing else
 *     RSP   a stack of return addresses only: its depth is the depth of calls
 *
 * V0 to V5 are in registers when calls and returns pass them; V6 to V15 stay in the machine. */
#pragma once
#include "coil/vm/vm.h"
#include "ssa/ssa.h"

enum { COIL_PASSED = 6, COIL_WINDOWS = 64, COIL_LIMITS = 512 };
/* COIL_LEVEL_FAST makes compiling fast, and COIL_LEVEL_FULL makes the compiled code fast. */
enum { COIL_LEVEL_FAST = 1, COIL_LEVEL_FULL = 2 };

/* These are the low bytes of the kind of an exit: what native code asks for when it stops there. */
enum coil_exit_kind {
    /* The fast check of an access has refused it. The kind also has log2 of the size << 8 |
     * write << 11 | scale << 12 | window << 16. */
    COIL_EXIT_CHECK,
    COIL_EXIT_STEP,  /* asks for the interpreter's function for the instruction */
    COIL_EXIT_PORT,  /* asks the host to execute the instruction */
    COIL_EXIT_LEAVE, /* ends native code; the interpreter continues here */
    COIL_EXIT_POLL,  /* stops native code because the interrupt flag is set */
    COIL_EXIT_DEPTH, /* before a call: calls are nested too deep, or an interrupt came */
    /* Before a call: there is no space for the called function's variables in memory. */
    COIL_EXIT_FRAMES,
    /* At the start of a function, this exit clears the function's variables in memory. */
    COIL_EXIT_CLEAR,
    COIL_EXIT_CONDITION, /* condition << 8: sets scratch[0] to 1 if the condition holds */
    COIL_EXIT_CALL,      /* marks a call, so that the state of the callers can be found */
};
/* These keys name parts of a machine's state at an exit. Smaller keys are numbers of slots. */
enum coil_key {
    COIL_KEY_REGISTER = 0x40000000,
    COIL_KEY_FLAGS = 0x41000000, /* opcode << 8 | type: the operation whose flags are live */
    COIL_KEY_FLAG_A,
    COIL_KEY_FLAG_B,
    COIL_KEY_BASE, /* the parts of the address of a checked access */
    COIL_KEY_INDEX,
    COIL_KEY_DISP,
};

struct coil_jit {
    struct coil_vm vm;
    /* Native code uses the following fields. */
    uint64_t gpr[16], xmm[16][4]; /* registers as they were saved at an exit */
    uint64_t host_stack, stack, frame;
    _Atomic uint64_t stack_limit;
    uint8_t *linear;
    struct ssa_window windows[COIL_WINDOWS];
    _Atomic uint64_t limits[COIL_LIMITS];
    /* Only C code uses the following fields. */
    uint64_t limit_words[COIL_LIMITS]; /* values of `limits` when there is no interrupt */
    uint32_t limit_count;
    uint8_t *code;
    size_t code_bytes, code_used;
    struct ssa_site *sites; /* calls and exits, in the order of their code */
    struct ssa_location *locations;
    struct ssa_line *lines; /* the cell for each range of code, in the order of the code */
    size_t site_count, line_count;
    /* These are, for each function, the offset of its code and the size of its frame in bytes. */
    uint32_t *entries, *frames;
    /* Per function: how many registers from V0 on it takes and gives back. */
    uint8_t *touched;
    /* This is 1 for each function whose variables are words of its frame, in the order of their
     * numbers. */
    uint8_t *framed;
    uint8_t *slot_types;  /* types of the slots of all functions, one function after the other */
    uint32_t *slot_first; /* per function: the index of its first slot type */
    /* For each slot of the function that stopped, this is 1 if the value of the slot is known. */
    uint8_t *kept;
    uint32_t *callable; /* functions whose address is taken, sorted by address */
    uint32_t callable_count;
    uint32_t enter, resume; /* offsets of the stubs that enter and resume native code */
    uint8_t *stack_memory, *frame_memory;
    size_t stack_bytes, frame_bytes;
    size_t base_depth;      /* number of the interpreter's open calls below native code */
    uint64_t base_fp;       /* where the slots of the first native function are */
    uint32_t base_function; /* the function with which native code was entered */
    unsigned level;         /* level of optimisation: COIL_LEVEL_* */
    bool sse2;              /* vectors use only SSE2, even if the processor has more */
    ssa_after_fn *after;    /* function to call after each pass, or NULL */
    void *after_user;
    uint32_t interpreted; /* number of functions that have no native code */
    uint64_t nanoseconds; /* processor time spent on compiling */
    /* This is true if the program jumps to computed addresses. It may then end in any function. */
    bool leaves;
    volatile bool inside; /* true while native code, or a C function that it called, is running */
    struct ssa_work work; /* work done for the function that is being compiled */
    uint64_t work_done;   /* work done for all functions */
    /* This many functions took more work than allowed and therefore got code of level 1. */
    uint32_t simple;
    bool suspended; /* native code waits for an answer of the host, or was interrupted */
    /* This is true if the interrupt came within an instruction, or while a frame was cleared. */
    bool again;
    int why;        /* why native code has stopped: enum why in run.c */
    penta_vm *twin; /* for the engine "both": the machine of the interpreter */
    bool following; /* true if the twin is at the same place as this machine */
    /* True if the twin was interrupted: it must first come to the place at which this machine
     * stopped with `stop`. */
    bool behind;
    penta_stop stop;
    char difference[64]; /* the first difference between the two machines, or "" */
    uint64_t scratch[];  /* slots for the operands of an instruction */
};

static inline struct coil_jit *coil_jit(penta_vm *vm) { return (struct coil_jit *)vm; }

/* flow.c defines the functions below. */

/* Struct coil_native is defined in native/native.h. A pointer to it is NULL if the code is for a
 * machine and not for an object file. */
struct coil_native;

struct coil_flow_block {
    uint32_t first, end; /* the first cell of the block, and the end of its cells */
    uint32_t to[2];      /* numbers of the blocks that may follow; UINT32_MAX means no block */
    uint32_t preds;
    uint8_t flags_in;    /* flags that are live at the start of the block */
    bool reached, loops; /* loops: a jump leads back to this block */
};
struct coil_flow {
    const struct coil_program *p;
    struct ssa_work *work; /* counts the compiler's work; may be NULL */
    const struct coil_native *native;
    uint32_t function, first, end; /* first, end: the range of the function's cells */
    uint32_t slots, words;         /* words: size of a set of slots in words */
    struct coil_flow_block *blocks;
    /* block_at[i] is the block that starts at cell `first` + i, or UINT32_MAX if no block starts
     * there. */
    uint32_t block_count, *block_at;
    /* This has, for each block, the set of slots that are live at its start; if it is NULL, all
     * slots count as live. */
    uint64_t *live_in;
    /* These are the slots that cells read and write, in order, each as slot << 1 | write. */
    uint16_t *touches;
    /* touched[i] says where the entries of cell `first` + i begin in `touches`. The array has
     * one more entry for the end. */
    uint32_t *touched;
    /* These are, for each cell, the flags that it always writes, and the flags that it reads. */
    uint8_t *replaced, *read;
    uint8_t *types;      /* per slot: its type, COIL_T_* */
    uint8_t *flags_live; /* per cell: the flags that are read after it */
    /* This is 1 for each cell whose flags are read in a way that only its general form supports. */
    uint8_t *by_step;
    /* targets[i] lists the cells to which a SWITCH or computed jump at cell `first` + i may
     * lead; it is NULL for other cells. */
    uint32_t **targets;
    uint32_t *target_counts;
    /* In an object file, this is 1 for each cell whose targets are labels with which an address
     * is compared. */
    uint8_t *computed;
};
/* Analyses a function. If `lives` is true, it also finds which slots are live where. */
bool coil_flow(struct coil_flow *f, const struct coil_vm *vm, const struct coil_native *native,
               uint32_t function, bool lives, struct ssa_work *work);
void coil_flow_free(struct coil_flow *f);
/* coil_flow_after computes the set of slots that are live after a block. coil_flow_back changes
 * the set after a cell to the set before it. */
void coil_flow_after(const struct coil_flow *f, uint32_t block, uint64_t *live);
void coil_flow_back(const struct coil_flow *f, uint32_t cell, uint64_t *live);
/* tables.c and flow.c define the functions below. */
/* coil_tables_find reads the tables of all SWITCH instructions. coil_table_of returns the table
 * of one SWITCH, or NULL if its targets are not known when the program is compiled. */
bool coil_tables_find(struct coil_vm *vm);
const struct coil_table *coil_table_of(const struct coil_vm *vm, uint32_t cell);
uint8_t coil_flags_written(const struct coil_program *p, uint32_t cell);
uint8_t coil_flags_read(const struct coil_program *p, uint32_t cell);

/* lower.c, lower_operand.c and lower_value.c define the functions below. */

struct coil_pending_flags { /* the operation whose flags a branch may read */
    /* opcode: 0 if there is no such operation; the flags are then in the machine. */
    uint8_t opcode, type;
    uint32_t a, b, result; /* SSA values; CMP and TEST have no result */
};
struct coil_lower {
    struct coil_vm *vm;
    const struct coil_program *p;
    struct coil_native *native;
    struct coil_flow flow;
    struct ssa_function *f;
    /* Per function: how many registers from V0 on it takes and gives back. */
    const uint8_t *touched;
    unsigned passed;   /* how many registers from V0 on this function takes and gives back */
    bool last;         /* the program may end when this function returns */
    uint32_t cell, at; /* cell: the current cell; at: the current SSA block */
    uint32_t extra;    /* the next free block for the rest of a conditional call or return */
    uint32_t *from;    /* per block: the only block before it */
    /* This has, for each block, the operation whose flags are pending at its end. */
    struct coil_pending_flags *pending;
    struct coil_pending_flags flags;
    /* This has, for each cell of the current block, the set of slots that are live before it. */
    uint64_t *live;
    size_t live_capacity;
    uint32_t live_first; /* first cell of the current block */
    uint32_t *kept;      /* values of slots that an exit keeps */
    size_t kept_capacity;
    /* Address of the function's variables in memory, if the address is loaded once. */
    uint32_t frame_top;
    bool ended;        /* true if the current block has an instruction that ends it */
    bool copying;      /* true while a block is copied to the end of another one */
    uint32_t *current; /* per variable in the frame: its value in this block, or 0 */
    /* held has 1 + the variables whose values are in `current`, and held_next says which to
     * replace next. */
    uint32_t held[8], held_next;
    struct ssa_code *code;     /* where to append the code, if the function is emitted in parts */
    uint32_t part, part_extra; /* the first blocks of the current part */
    /* This is the last block that gets flags from a block before the end of the part. */
    uint32_t flags_to;
    uint32_t *order; /* the blocks of a part in the order of their code */
};
/* Makes the SSA form of a function. `leaves` tells that the program may end when any function
 * returns. `types` gets the type of each slot. If `code` is not NULL, the code of the function
 * is appended to it, and the function's variables are in its frame. */
bool coil_lower_function(struct coil_vm *vm, uint32_t function, const uint8_t *touched, bool leaves,
                         uint8_t *types, struct ssa_function *f, struct ssa_code *code);
/* Makes the SSA form of a function whose code goes into an object file. */
bool coil_lower_native(struct coil_vm *vm, struct coil_native *n, const uint8_t *touched,
                       uint32_t function, struct ssa_function *f);
void coil_lower_call(struct coil_lower *l, uint32_t callee);
void coil_lower_return(struct coil_lower *l);
uint32_t coil_lower_fixed(struct coil_lower *l, enum ssa_fixed which);
uint32_t coil_lower_register(struct coil_lower *l, uint32_t reg);
enum ssa_mem coil_lower_mem(uint8_t op);
void coil_lower_stub(const struct coil_function *function, uint8_t touched, struct ssa_function *f);
uint32_t coil_lower_exit(struct coil_lower *l, uint32_t kind);
void coil_lower_step(struct coil_lower *l);
/* Lowers an instruction that computes values. Returns false if the instruction has no simple
 * form. */
bool coil_lower_value(struct coil_lower *l, const struct coil_step *s);
/* lower_vector.c defines this function. */
bool coil_lower_vector(struct coil_lower *l, const struct coil_step *s);
/* lower_stack.c defines this function. */
bool coil_lower_stack(struct coil_lower *l, const struct coil_step *s);
/* The functions coil_lower_read to coil_lower_canon read, write and convert operands. They
 * return 0 or false if there is no simple form. */
uint32_t coil_lower_read(struct coil_lower *l, const struct coil_step *s, unsigned i, uint8_t as);
uint32_t coil_lower_place(struct coil_lower *l, const struct coil_place *p, uint8_t own,
                          uint8_t as);
bool coil_lower_write(struct coil_lower *l, const struct coil_place *p, uint32_t value,
                      uint8_t from);
uint32_t coil_lower_convert(struct coil_lower *l, uint32_t value, uint8_t from, uint8_t to);
uint32_t coil_lower_canon(struct coil_lower *l, uint32_t value, uint8_t type);
/* lower_integer.c defines the functions below. */
/* These functions make operations on integers. `v` has the operands, converted to the type. They
 * return 0 if there is no simple form. */
struct coil_roles;
uint32_t coil_lower_integer(struct coil_lower *l, const struct coil_step *s,
                            const struct coil_roles *r, uint8_t type, const uint32_t v[3]);
uint32_t coil_lower_remainder(struct coil_lower *l, uint8_t type, uint32_t a, uint32_t b);
uint32_t coil_lower_saturated(struct coil_lower *l, const struct coil_step *s, uint8_t type,
                              uint8_t to, uint32_t a, uint32_t b);
uint32_t coil_lower_chained(struct coil_lower *l, bool adds, uint8_t type, const uint32_t v[3],
                            uint32_t *carry);
uint32_t coil_lower_clamp(struct coil_lower *l, uint32_t value, uint8_t from, uint8_t to);
uint32_t coil_lower_select(struct coil_lower *l, uint32_t truth, uint32_t yes, uint32_t no);
/* lower_real.c, lower_operand.c, lower.c and lower_flags.c define the functions below. */
uint32_t coil_lower_real(struct coil_lower *l, const struct coil_step *s, uint8_t type,
                         const uint32_t v[3]);
uint32_t coil_lower_to_real(struct coil_lower *l, uint32_t value, uint8_t from, uint8_t to);
uint32_t coil_lower_from_real(struct coil_lower *l, uint32_t value, uint8_t from, uint8_t to);
bool coil_lower_address(struct coil_lower *l, const struct coil_place *p, struct ssa_address *at);
/* Checks an access to the memory at a place and gives its address as an address of the host. */
bool coil_lower_reach(struct coil_lower *l, const struct coil_place *p, enum ssa_mem mem,
                      bool write, struct ssa_address *at);
/* Tells whether a jump back to a block is replaced by a copy of the block. */
bool coil_lower_copies(const struct coil_lower *l, uint32_t block);
/* Makes a branch to block `yes` if a condition holds, else to block `no`. Returns false if the
 * flags are in the machine. */
bool coil_lower_branch(struct coil_lower *l, uint8_t condition, uint32_t yes, uint32_t no);
/* Adds to *p what a branch must know about an operation when the flags `live` are read. Returns
 * false if not all of these flags can be known. */
bool coil_lower_flags(struct coil_pending_flags *p, uint8_t live);
/* Returns a value that is 1 if flag C is set, else 0. Returns no value (0) if flag C is in the
 * machine. */
uint32_t coil_lower_carry(struct coil_lower *l);
/* Tells whether coil_lower_branch can decide the condition after an operation with this opcode
 * and type. */
bool coil_lower_knows(uint8_t opcode, uint8_t type, uint8_t condition);

static inline enum ssa_type coil_ssa_type(uint8_t op)
{
    return op == COIL_T_FP64 ? SSA_F64 : op == COIL_T_FP32 ? SSA_F32 : SSA_INT;
}

/* indirect.c defines the functions below. */

bool coil_find_callable(struct coil_jit *j);
bool coil_calls_address(const struct coil_program *p, uint32_t cell);
/* Returns how many SSA blocks a call of an address needs. */
uint32_t coil_callable_blocks(const struct coil_lower *l);
bool coil_lower_call_address(struct coil_lower *l, uint32_t next);

/* extensions.c and compile.c define the functions below. */

void coil_drop_extensions(struct ssa_function *f, const struct coil_jit *j);
/* Returns how much work compiling a function with all passes may take (COIL 7.16.4). */
uint64_t coil_work_most(const struct coil_program *p, uint32_t function);

/* variables.c defines the functions below. */

bool coil_variables(struct coil_lower *l, uint32_t count, const uint8_t *types);
uint32_t coil_lower_get(struct coil_lower *l, uint32_t variable);
void coil_lower_set(struct coil_lower *l, uint32_t variable, uint32_t value);
void coil_hold_nothing(struct coil_lower *l); /* called at the start of a block, and after a call */

/* parts.c defines the functions below. */

bool coil_parts_begin(struct coil_lower *l);
void coil_parts_cut(struct coil_lower *l, uint32_t block);  /* called before a block is lowered */
void coil_parts_note(struct coil_lower *l, uint32_t block); /* called after a block is lowered */
bool coil_parts_end(struct coil_lower *l);

/* compile.c defines the functions below. */

bool coil_jit_compile(struct coil_jit *j);
void coil_jit_release(struct coil_jit *j);

/* state.c defines the functions below. */

/* This is a function whose call is open. It has a native frame of its own, or is inlined in
 * another function. */
struct coil_open {
    uint32_t function, position, first, end; /* first, end: the range of its locations */
    uint64_t frame;
};
/* Lists the functions that are open at a site, from the innermost out, and returns their number.
 * `out` may be NULL. */
size_t coil_jit_open_at(const struct coil_jit *j, const struct ssa_site *s, uint64_t frame,
                        struct coil_open *out);
/* Copies the state of native code that has stopped at an exit to the machine. Returns false if
 * there is no memory. */
bool coil_jit_settle(struct coil_jit *j);
size_t coil_jit_depth(const struct coil_jit *j); /* number of open calls of native code */
const struct ssa_site *coil_jit_site(const struct coil_jit *j, uint64_t address);
uint64_t coil_jit_value(const struct coil_jit *j, const struct ssa_location *at, uint64_t frame);
/* These two functions are for a function whose variables are in its frame. They return a word of
 * the frame, and the value of a variable. */
uint64_t coil_jit_word(uint64_t frame, uint32_t number);
uint64_t coil_jit_variable(const struct coil_jit *j, uint32_t function, uint64_t frame,
                           uint32_t slot);

/* sample.c defines the function below. */

size_t coil_jit_sample(const penta_vm *vm, const struct native_state *at,
                       const struct code_map *map, uint64_t *pcs, size_t max);

/* run.c defines the functions below. */

uint64_t coil_jit_ask(struct coil_jit *j); /* returns 0 if native code continues */
penta_vm *coil_jit_open(const penta_module *module, const penta_option *options, size_t count,
                        const struct engine *engine, const volatile int *stop, penta_error *err);
extern const struct engine coil_jit_engine, coil_both;
