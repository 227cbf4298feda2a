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
/* COIL_LEVEL_FAST compiles fast, COIL_LEVEL_FULL makes fast code. */
enum { COIL_LEVEL_FAST = 1, COIL_LEVEL_FULL = 2 };

/* The low byte of a site's kind: what native code asks for at an exit. */
enum coil_exit_kind {
    /* An access that its fast check refuses. The kind also has: log2 of its size << 8 | write << 11
     * | scale << 12 | window << 16. */
    COIL_EXIT_CHECK,
    COIL_EXIT_STEP,   /* runs the interpreter's function for the instruction */
    COIL_EXIT_PORT,   /* asks the host */
    COIL_EXIT_LEAVE,  /* the interpreter goes on here */
    COIL_EXIT_POLL,   /* the interrupt flag is set */
    COIL_EXIT_DEPTH,  /* before a call: too deep, or an interrupt */
    COIL_EXIT_FRAMES, /* before a call: no space for the callee's variables in memory */
    /* At the start of a function: clears its variables in memory. */
    COIL_EXIT_CLEAR,
    COIL_EXIT_CONDITION, /* condition << 8: scratch[0] becomes 1 if it holds */
    COIL_EXIT_CALL,      /* the place of a call, for finding the state of callers */
};
/* Keys of parts of the state. Numbers below these are slots. */
enum coil_key {
    COIL_KEY_REGISTER = 0x40000000,
    COIL_KEY_FLAGS = 0x41000000, /* opcode << 8 | type of the operation whose flags are live */
    COIL_KEY_FLAG_A,
    COIL_KEY_FLAG_B,
    COIL_KEY_BASE, /* parts of a checked address, if it has them */
    COIL_KEY_INDEX,
    COIL_KEY_DISP,
};

struct coil_jit {
    struct coil_vm vm;
    /* Native code uses the following fields. */
    uint64_t gpr[16], xmm[16][4]; /* the registers as they were saved at an exit */
    uint64_t host_stack, stack, frame;
    _Atomic uint64_t stack_limit;
    uint8_t *linear;
    struct ssa_window windows[COIL_WINDOWS];
    _Atomic uint64_t limits[COIL_LIMITS];
    /* Only C code uses the following fields. */
    uint64_t limit_words[COIL_LIMITS]; /* the limits when there is no interrupt */
    uint32_t limit_count;
    uint8_t *code;
    size_t code_bytes, code_used;
    struct ssa_site *sites; /* calls and exits, in the order of their code */
    struct ssa_location *locations;
    struct ssa_line *lines; /* guest positions, in the order of their code; they are cells */
    size_t site_count, line_count;
    uint32_t *entries, *frames; /* per function: offset of its code; bytes of its frame */
    uint8_t *touched;           /* per function: how many of V0 to V5 it takes and gives back */
    /* Per function: 1 if its variables are words of its frame, in the order of their numbers. */
    uint8_t *framed;
    uint8_t *slot_types;  /* types of the slots of all functions, one function after the other */
    uint32_t *slot_first; /* per function: index of its first slot type */
    uint8_t *kept;        /* per slot of the function that stopped: 1 if its value is known */
    uint32_t *callable;   /* functions whose address is taken, in the order of their addresses */
    uint32_t callable_count;
    uint32_t enter, resume; /* offsets of stubs */
    uint8_t *stack_memory, *frame_memory;
    size_t stack_bytes, frame_bytes;
    size_t base_depth;      /* number of the interpreter's calls below native code */
    uint64_t base_fp;       /* where the slots of the first native function are */
    uint32_t base_function; /* the first native function */
    unsigned level;         /* level of optimisation: COIL_LEVEL_* */
    bool sse2;              /* uses only SSE2 for vectors, whatever the processor has */
    ssa_after_fn *after;    /* called after each pass; NULL: none */
    void *after_user;
    uint32_t interpreted; /* number of functions without native code */
    uint64_t nanoseconds; /* processor time that compiling took */
    /* The program jumps to computed addresses, so it may end in any function. */
    bool leaves;
    volatile bool inside; /* true while native code runs, or what it asks for */
    struct ssa_work work; /* work of the function that is being compiled */
    uint64_t work_done;   /* work of all functions */
    /* Number of functions that took more work than allowed, and got code of level 1. */
    uint32_t simple;
    bool suspended; /* native code waits for an answer, or was interrupted */
    /* The interrupt came within the instruction, or while a frame was cleared. */
    bool again;
    int why;        /* why native code has left: enum why in run.c */
    penta_vm *twin; /* for the engine "both": the interpreter's machine */
    bool following; /* the twin is at the same place as this machine */
    /* The twin was interrupted, and must first come to the place where this machine stopped with
     * `stop`. */
    bool behind;
    penta_stop stop;
    char difference[64]; /* the first difference, or "" */
    uint64_t scratch[];  /* slots for the operands of a step */
};

static inline struct coil_jit *coil_jit(penta_vm *vm) { return (struct coil_jit *)vm; }

/* ---- flow.c ---- */

struct coil_native; /* defined in native/native.h; NULL if the code is for a machine */

struct coil_flow_block {
    uint32_t first, end; /* the first cell of the block, and the end of its cells */
    uint32_t to[2];      /* following blocks; UINT32_MAX: none */
    uint32_t preds;
    uint8_t flags_in;    /* flags that are live at its start */
    bool reached, loops; /* loops: a jump leads back to it */
};
struct coil_flow {
    const struct coil_program *p;
    struct ssa_work *work; /* work of the compiler, or NULL */
    const struct coil_native *native;
    uint32_t function, first, end; /* first, end: the cells of the function */
    uint32_t slots, words;         /* words: size of a set of slots */
    struct coil_flow_block *blocks;
    /* block_at is per cell, from `first` on: the block that starts there, or UINT32_MAX. */
    uint32_t block_count, *block_at;
    uint64_t *live_in; /* per block: a set of slots; NULL: all count as live */
    uint16_t *touches; /* what cells do to slots, in their order: slot << 1 | write */
    /* Per cell: where its part of `touches` begins; it has one entry more. */
    uint32_t *touched;
    /* Per cell: flags that it certainly writes, and flags that it reads. */
    uint8_t *replaced, *read;
    uint8_t *types;      /* per slot: its type, COIL_T_* */
    uint8_t *flags_live; /* per cell: flags that are read after it */
    /* Per cell: 1 if its flags are read in a way that only its general form supports. */
    uint8_t *by_step;
    /* Per cell: the cells to which a SWITCH or computed jump may lead, or NULL. */
    uint32_t **targets;
    uint32_t *target_counts;
    /* Per cell of an object: 1 if the targets are labels with which an address is compared. */
    uint8_t *computed;
};
/* Analyses a function. With `lives`, it also finds out which slots are live where. */
bool coil_flow(struct coil_flow *f, const struct coil_vm *vm, const struct coil_native *native,
               uint32_t function, bool lives, struct ssa_work *work);
void coil_flow_free(struct coil_flow *f);
/* coil_flow_after gives the set of live slots after a block, and coil_flow_back changes the set
 * after a cell to the set before it. */
void coil_flow_after(const struct coil_flow *f, uint32_t block, uint64_t *live);
void coil_flow_back(const struct coil_flow *f, uint32_t cell, uint64_t *live);
/* ---- tables.c ---- */
/* coil_tables_find reads the tables of all SWITCH instructions. coil_table_of returns the table of
 * one of them if its targets are known when it is compiled, or NULL. */
bool coil_tables_find(struct coil_vm *vm);
const struct coil_table *coil_table_of(const struct coil_vm *vm, uint32_t cell);
uint8_t coil_flags_written(const struct coil_program *p, uint32_t cell);
uint8_t coil_flags_read(const struct coil_program *p, uint32_t cell);

/* ---- lower.c and lower_*.c ---- */

struct coil_pending_flags { /* the operation whose flags a branch may read */
    uint8_t opcode, type;   /* opcode 0: none, the flags are in the machine */
    uint32_t a, b, result;  /* values; CMP and TEST have no result */
};
struct coil_lower {
    struct coil_vm *vm;
    const struct coil_program *p;
    struct coil_native *native;
    struct coil_flow flow;
    struct ssa_function *f;
    const uint8_t *touched; /* per function: how many of V0 to V5 it takes and gives back */
    unsigned passed;        /* how many of them this function passes */
    bool last;              /* the program may end with a return from it */
    uint32_t cell, at;      /* `at` is the current SSA block */
    uint32_t extra;         /* the next block for a conditional call or return */
    uint32_t *from;         /* per block: the only block before it */
    struct coil_pending_flags *pending; /* per block: the pending flags at its end */
    struct coil_pending_flags flags;
    uint64_t *live; /* sets of live slots before every cell of the current block */
    size_t live_capacity;
    uint32_t live_first; /* first cell of the current block */
    uint32_t *kept;      /* values of slots for an exit */
    size_t kept_capacity;
    uint32_t frame_top;          /* address of its variables in memory, if that is loaded once */
    bool ended;                  /* true if the current block has an instruction that ends it */
    bool copying;                /* a block is being copied to the end of another one */
    uint32_t *current;           /* per variable in the frame: its value in this block, or 0 */
    uint32_t held[8], held_next; /* held: 1 + the variables with a value; the oldest one is next */
    struct ssa_code *code;       /* set if the function is emitted in parts */
    uint32_t part, part_extra;   /* the first blocks of the current part */
    /* The last block to which flags go from blocks before the end of the part. */
    uint32_t flags_to;
    uint32_t *order; /* the blocks of a part */
};
/* Makes the SSA form of a function. `leaves` tells that the program may end with a return from any
 * function. `types` gets the type of each slot. If `code` is not NULL, the code of the function is
 * appended to it, and its variables are in its frame. */
bool coil_lower_function(struct coil_vm *vm, uint32_t function, const uint8_t *touched, bool leaves,
                         uint8_t *types, struct ssa_function *f, struct ssa_code *code);
/* Makes the SSA form of a function for an object file. */
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
/* Lowers an instruction that computes. Returns false if it has no simple form. */
bool coil_lower_value(struct coil_lower *l, const struct coil_step *s);
bool coil_lower_vector(struct coil_lower *l, const struct coil_step *s); /* in lower_vector.c */
bool coil_lower_stack(struct coil_lower *l, const struct coil_step *s);  /* in lower_stack.c */
/* These read and write operands. They return 0 or false if there is no simple form. */
uint32_t coil_lower_read(struct coil_lower *l, const struct coil_step *s, unsigned i, uint8_t as);
uint32_t coil_lower_place(struct coil_lower *l, const struct coil_place *p, uint8_t own,
                          uint8_t as);
bool coil_lower_write(struct coil_lower *l, const struct coil_place *p, uint32_t value,
                      uint8_t from);
uint32_t coil_lower_convert(struct coil_lower *l, uint32_t value, uint8_t from, uint8_t to);
uint32_t coil_lower_canon(struct coil_lower *l, uint32_t value, uint8_t type);
/* ---- lower_integer.c ---- */
/* `v` has the operands in the type. These return 0 if there is no simple form. */
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
/* ---- lower_real.c ---- */
uint32_t coil_lower_real(struct coil_lower *l, const struct coil_step *s, uint8_t type,
                         const uint32_t v[3]);
uint32_t coil_lower_to_real(struct coil_lower *l, uint32_t value, uint8_t from, uint8_t to);
uint32_t coil_lower_from_real(struct coil_lower *l, uint32_t value, uint8_t from, uint8_t to);
bool coil_lower_address(struct coil_lower *l, const struct coil_place *p, struct ssa_address *at);
/* Gives the address too, as an address of the host, after checking an access of this size. */
bool coil_lower_reach(struct coil_lower *l, const struct coil_place *p, enum ssa_mem mem,
                      bool write, struct ssa_address *at);
/* Tells whether a jump back to a block becomes a copy of the block. */
bool coil_lower_copies(const struct coil_lower *l, uint32_t block);
/* Makes a branch on a condition; yes and no are blocks. Returns false if the flags are in the
 * machine. */
bool coil_lower_branch(struct coil_lower *l, uint8_t condition, uint32_t yes, uint32_t no);
/* Completes what a branch must know of an operation whose flags `live` are read. Returns false if
 * not all of them can be known. */
bool coil_lower_flags(struct coil_pending_flags *p, uint8_t live);
/* Returns a value that is flag C, 0 or 1. Returns no value (0) if flag C is in the machine. */
uint32_t coil_lower_carry(struct coil_lower *l);
/* Tells whether coil_lower_branch can decide the condition from this operation. */
bool coil_lower_knows(uint8_t opcode, uint8_t type, uint8_t condition);

static inline enum ssa_type coil_ssa_type(uint8_t op)
{
    return op == COIL_T_FP64 ? SSA_F64 : op == COIL_T_FP32 ? SSA_F32 : SSA_INT;
}

/* ---- indirect.c ---- */

bool coil_find_callable(struct coil_jit *j);
bool coil_calls_address(const struct coil_program *p, uint32_t cell);
/* Returns how many blocks a call of an address needs. */
uint32_t coil_callable_blocks(const struct coil_lower *l);
bool coil_lower_call_address(struct coil_lower *l, uint32_t next);

/* ---- extensions.c ---- */

void coil_drop_extensions(struct ssa_function *f, const struct coil_jit *j);
/* Returns the work that compiling a function may take with all passes (COIL 7.16.4). */
uint64_t coil_work_most(const struct coil_program *p, uint32_t function);

/* ---- variables.c ---- */

bool coil_variables(struct coil_lower *l, uint32_t count, const uint8_t *types);
uint32_t coil_lower_get(struct coil_lower *l, uint32_t variable);
void coil_lower_set(struct coil_lower *l, uint32_t variable, uint32_t value);
void coil_hold_nothing(struct coil_lower *l); /* called in a new block, and after a call */

/* ---- parts.c ---- */

bool coil_parts_begin(struct coil_lower *l);
void coil_parts_cut(struct coil_lower *l, uint32_t block);  /* called before a block is lowered */
void coil_parts_note(struct coil_lower *l, uint32_t block); /* called after a block is lowered */
bool coil_parts_end(struct coil_lower *l);

/* ---- compile.c ---- */

bool coil_jit_compile(struct coil_jit *j);
void coil_jit_release(struct coil_jit *j);

/* ---- state.c ---- */

/* A function that is open: it has a native frame of its own, or is inlined in another
 * function's. */
struct coil_open {
    uint32_t function, position, first, end; /* first, end: its locations */
    uint64_t frame;
};
/* Gives the functions that a site stands for, from the inside out, and returns their number. `out`
 * may be NULL. */
size_t coil_jit_open_at(const struct coil_jit *j, const struct ssa_site *s, uint64_t frame,
                        struct coil_open *out);
/* Writes the state of native code that has stopped at an exit to the machine. Returns false if
 * there is no memory. */
bool coil_jit_settle(struct coil_jit *j);
size_t coil_jit_depth(const struct coil_jit *j); /* number of open calls of native code */
const struct ssa_site *coil_jit_site(const struct coil_jit *j, uint64_t address);
uint64_t coil_jit_value(const struct coil_jit *j, const struct ssa_location *at, uint64_t frame);
/* For a function with its variables in its frame: these return a word of the frame, and a
 * variable. */
uint64_t coil_jit_word(uint64_t frame, uint32_t number);
uint64_t coil_jit_variable(const struct coil_jit *j, uint32_t function, uint64_t frame,
                           uint32_t slot);

/* ---- sample.c ---- */

size_t coil_jit_sample(const penta_vm *vm, const struct native_state *at,
                       const struct code_map *map, uint64_t *pcs, size_t max);

/* ---- run.c ---- */

uint64_t coil_jit_ask(struct coil_jit *j); /* returns 0 if native code goes on */
penta_vm *coil_jit_open(const penta_module *module, const penta_option *options, size_t count,
                        const struct engine *engine, const volatile int *stop, penta_error *err);
extern const struct engine coil_jit_engine, coil_both;
