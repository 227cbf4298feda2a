/* The compiler of COIL and its run time, over src/ssa.
 *
 * Loading has resolved every function to cells and steps; each function becomes one in SSA form
 * (flow.c, lower*.c) and native code (compile.c). Compiled code is an accelerator of the same
 * machine: whatever is rare is done by the interpreter's own function for that instruction, and
 * whenever a run stops, the machine's state is written back from the registers and frames of native
 * code (state.c), so that the interpreter can go on from there.
 *
 *     R15   the machine, struct coil_jit       R14   guest address 0
 *     RBP   frames of native functions: spilled values, nothing else
 *     RSP   a stack of return addresses alone: its depth is the depth of calls
 *
 * V0 to V5 are in registers where calls and returns pass them; V6 to V15 stay in the machine. */
#pragma once
#include "coil/vm/vm.h"
#include "ssa/ssa.h"

enum { COIL_PASSED = 6, COIL_WINDOWS = 64, COIL_LIMITS = 512 };
enum { COIL_LEVEL_FAST = 1, COIL_LEVEL_FULL = 2 }; /* compiles fast; for fast code */

enum coil_exit_kind {                  /* the low byte of a site's kind */
                      COIL_EXIT_CHECK, /* an access that its fast check refuses: log2 of its size << 8 | write << 11 | scale << 12 | window << 16 */
                      COIL_EXIT_STEP,  /* the interpreter's function for the instruction */
                      COIL_EXIT_PORT,  /* a host call */
                      COIL_EXIT_LEAVE, /* the interpreter goes on here */
                      COIL_EXIT_POLL,  /* the interrupt flag is set */
                      COIL_EXIT_DEPTH, /* before a call: too deep, or an interrupt */
                      COIL_EXIT_FRAMES, /* before a call: no space for variables in memory */
                      COIL_EXIT_CLEAR, /* at the start of a function: clears its variables in memory */
                      COIL_EXIT_CONDITION, /* condition << 8: whether it holds, to scratch[0] */
                      COIL_EXIT_CALL, /* the place of a call, for finding the state of callers */
};
enum coil_key { /* of a part of the state; below these: a slot */
                COIL_KEY_REGISTER = 0x40000000,
                COIL_KEY_FLAGS =
                    0x41000000, /* opcode << 8 | type of the operation whose flags are live */
                COIL_KEY_FLAG_A,
                COIL_KEY_FLAG_B,
                COIL_KEY_BASE, /* of a checked address, as far as it has them */
                COIL_KEY_INDEX,
                COIL_KEY_DISP,
};

struct coil_jit {
    struct coil_vm vm;
    /* used by native code */
    uint64_t gpr[16], xmm[16][4]; /* saved at an exit */
    uint64_t host_stack, stack, frame;
    _Atomic uint64_t stack_limit;
    uint8_t *linear;
    struct ssa_window windows[COIL_WINDOWS];
    _Atomic uint64_t limits[COIL_LIMITS];
    /* used by C */
    uint64_t limit_words[COIL_LIMITS]; /* what they are while nobody interrupts */
    uint32_t limit_count;
    uint8_t *code;
    size_t code_bytes, code_used;
    struct ssa_site *sites; /* in the order of their code */
    struct ssa_location *locations;
    struct ssa_line *lines; /* in the order of their code; positions are cells */
    size_t site_count, line_count;
    uint32_t *entries, *frames; /* per function: native offset; bytes of its frame */
    uint8_t *touched;           /* per function: registers that it passes, as bits */
    uint8_t *framed;      /* per function: its variables are words of its frame, as numbered */
    uint8_t *slot_types;  /* of all functions, one after the other */
    uint32_t *slot_first; /* per function: its first one */
    uint8_t *kept;        /* per slot of the function that stopped */
    uint32_t *callable;   /* functions whose address is taken, in the order of these */
    uint32_t callable_count;
    uint32_t enter, resume; /* stubs */
    uint8_t *stack_memory, *frame_memory;
    size_t stack_bytes, frame_bytes;
    size_t base_depth;      /* calls of the interpreter below native code */
    uint64_t base_fp;       /* where the first native function's slots are */
    uint32_t base_function; /* that function */
    unsigned level;         /* of optimisation: COIL_LEVEL_* */
    bool sse2;              /* no other instructions for vectors, whatever the processor has */
    ssa_after_fn *after;    /* called after each pass, if there is one */
    void *after_user;
    uint32_t interpreted; /* functions without native code */
    uint64_t nanoseconds; /* that compiling took */
    bool leaves;          /* any function may be the last one: jumps to computed addresses */
    volatile bool inside; /* native code, or what it asks, runs */
    struct ssa_work work; /* of the function that is compiled */
    uint64_t work_done;   /* of all functions */
    uint32_t simple;      /* functions that took more than they may: code of level 1 */
    bool suspended;       /* native code waits for an answer or goes on after an interrupt */
    bool again;           /* which came within the instruction, or while a frame was cleared */
    int why;              /* native code has left */
    penta_vm *twin;       /* of the engine both: the interpreter's machine */
    bool following;       /* it is where this one is */
    bool behind;          /* but for an interrupt: it has to come to where this one stopped: */
    penta_stop stop;
    char difference[64]; /* "" while there is none */
    uint64_t scratch[];  /* slots of a step */
};

static inline struct coil_jit *coil_jit(penta_vm *vm) { return (struct coil_jit *)vm; }

/* ---- flow.c ---- */

struct coil_native; /* native/native.h; where it is NULL, code is for a machine */

struct coil_flow_block {
    uint32_t first, end; /* cells */
    uint32_t to[2];      /* blocks; UINT32_MAX: none */
    uint32_t preds;
    uint8_t flags_in;    /* flags that are live at its start */
    bool reached, loops; /* loops: a jump back leads here */
};
struct coil_flow {
    const struct coil_program *p;
    struct ssa_work *work; /* of the compiler, or NULL */
    const struct coil_native *native;
    uint32_t function, first, end; /* cells of the function */
    uint32_t slots, words;         /* words of a set of slots */
    struct coil_flow_block *blocks;
    uint32_t block_count,
        *block_at;            /* block_at: per cell from first; UINT32_MAX: none starts there */
    uint64_t *live_in;        /* per block: a set of slots; NULL: all are taken to be live */
    uint16_t *touches;        /* what cells do to slots, slot << 1 | write, in their order */
    uint32_t *touched;        /* per cell: where its part begins; one more */
    uint8_t *replaced, *read; /* per cell: flags that it writes for certain, and reads */
    uint8_t *types;           /* per slot: COIL_T_* */
    uint8_t *flags_live;      /* per cell: flags that are read after it */
    uint8_t *by_step;   /* per cell: its flags are read in ways that only its general form serves */
    uint32_t **targets; /* per cell: of a SWITCH, blocks; or NULL */
    uint32_t *target_counts;
    uint8_t *computed; /* per cell of an object: targets are labels to compare an address with */
};
/* lives: finds out which slots are live where. */
bool coil_flow(struct coil_flow *f, const struct coil_vm *vm, const struct coil_native *native,
               uint32_t function, bool lives, struct ssa_work *work);
void coil_flow_free(struct coil_flow *f);
/* The set of live slots after a block; and from after a cell to before it. */
void coil_flow_after(const struct coil_flow *f, uint32_t block, uint64_t *live);
void coil_flow_back(const struct coil_flow *f, uint32_t cell, uint64_t *live);
/* tables.c: the tables of all SWITCHes; and that of one, whose targets are known when it is compiled, or NULL. */
bool coil_tables_find(struct coil_vm *vm);
const struct coil_table *coil_table_of(const struct coil_vm *vm, uint32_t cell);
uint8_t coil_flags_written(const struct coil_program *p, uint32_t cell);
uint8_t coil_flags_read(const struct coil_program *p, uint32_t cell);

/* ---- lower.c and lower_*.c ---- */

struct coil_pending_flags { /* the operation whose flags a branch may read */
    uint8_t opcode, type;   /* opcode 0: none, they are in the machine */
    uint32_t a, b, result;  /* values; of CMP and TEST without result */
};
struct coil_lower {
    struct coil_vm *vm;
    const struct coil_program *p;
    struct coil_native *native;
    struct coil_flow flow;
    struct ssa_function *f;
    const uint8_t *touched; /* per function: how many of V0 to V5 it takes and gives back */
    unsigned passed;        /* by this one */
    bool last;              /* a return from it may end the program */
    uint32_t cell, at;      /* at: the SSA block under way */
    uint32_t extra;         /* the next of the blocks for conditional calls and returns */
    uint32_t *from;         /* per block: the only one before it */
    struct coil_pending_flags *pending; /* per block: at its end */
    struct coil_pending_flags flags;
    uint64_t *live; /* before every cell of the block under way: sets of slots */
    size_t live_capacity;
    uint32_t live_first; /* its first cell */
    uint32_t *kept;      /* values of slots, for an exit */
    size_t kept_capacity;
    uint32_t frame_top;          /* where its variables in memory are, if that is loaded once */
    bool ended;                  /* the block has its end */
    bool copying;                /* a block is copied to the end of another */
    uint32_t *current;           /* per variable in the frame: its value in this block, or 0 */
    uint32_t held[8], held_next; /* variables, + 1, that have one; the oldest is next */
    struct ssa_code *code;       /* of a function that is emitted in parts: */
    uint32_t part, part_extra;   /* the first blocks of the part under way */
    uint32_t flags_to; /* the last block that flags of blocks before the part's end go to */
    uint32_t *order;   /* its blocks */
};
/* leaves: a return from any function may end the program. types gets the type of each slot. With code:
 * appends that of the function, which has its variables in its frame. */
bool coil_lower_function(struct coil_vm *vm, uint32_t function, const uint8_t *touched, bool leaves,
                         uint8_t *types, struct ssa_function *f, struct ssa_code *code);
/* The same for an object file. */
bool coil_lower_native(struct coil_native *n, uint32_t function, struct ssa_function *f);
void coil_lower_call(struct coil_lower *l, uint32_t callee);
void coil_lower_return(struct coil_lower *l);
uint32_t coil_lower_fixed(struct coil_lower *l, enum ssa_fixed which);
uint32_t coil_lower_register(struct coil_lower *l, uint32_t reg);
enum ssa_mem coil_lower_mem(uint8_t op);
void coil_lower_stub(const struct coil_function *function, uint8_t touched, struct ssa_function *f);
uint32_t coil_lower_exit(struct coil_lower *l, uint32_t kind);
void coil_lower_step(struct coil_lower *l);
/* False: it has no simple form. */
bool coil_lower_value(struct coil_lower *l, const struct coil_step *s);
bool coil_lower_vector(struct coil_lower *l, const struct coil_step *s); /* lower_vector.c */
bool coil_lower_stack(struct coil_lower *l, const struct coil_step *s);  /* lower_stack.c */
/* Operands. 0: it has no simple form. */
uint32_t coil_lower_read(struct coil_lower *l, const struct coil_step *s, unsigned i, uint8_t as);
uint32_t coil_lower_place(struct coil_lower *l, const struct coil_place *p, uint8_t own,
                          uint8_t as);
bool coil_lower_write(struct coil_lower *l, const struct coil_place *p, uint32_t value,
                      uint8_t from);
uint32_t coil_lower_convert(struct coil_lower *l, uint32_t value, uint8_t from, uint8_t to);
uint32_t coil_lower_canon(struct coil_lower *l, uint32_t value, uint8_t type);
/* lower_integer.c; v: the operands in the type. 0: it has no simple form. */
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
/* lower_real.c */
uint32_t coil_lower_real(struct coil_lower *l, const struct coil_step *s, uint8_t type,
                         const uint32_t v[3]);
uint32_t coil_lower_to_real(struct coil_lower *l, uint32_t value, uint8_t from, uint8_t to);
uint32_t coil_lower_from_real(struct coil_lower *l, uint32_t value, uint8_t from, uint8_t to);
bool coil_lower_address(struct coil_lower *l, const struct coil_place *p, struct ssa_address *at);
/* The same, checked for an access of this size, as an address of the host. */
bool coil_lower_reach(struct coil_lower *l, const struct coil_place *p, enum ssa_mem mem,
                      bool write, struct ssa_address *at);
/* Whether a jump back to a block becomes a copy of it. */
bool coil_lower_copies(const struct coil_lower *l, uint32_t block);
/* A branch on a condition; yes and no are blocks. False: the flags are in the machine. */
bool coil_lower_branch(struct coil_lower *l, uint8_t condition, uint32_t yes, uint32_t no);
/* Completes what a branch is to know of an operation whose flags `live` are read; false: not all of
 * them can be known. */
bool coil_lower_flags(struct coil_pending_flags *p, uint8_t live);
uint32_t coil_lower_carry(struct coil_lower *l); /* flag C, 0 or 1; 0: it is in the machine */
/* Whether coil_lower_branch can decide it from this operation. */
bool coil_lower_knows(uint8_t opcode, uint8_t type, uint8_t condition);

static inline enum ssa_type coil_ssa_type(uint8_t op)
{
    return op == COIL_T_FP64 ? SSA_F64 : op == COIL_T_FP32 ? SSA_F32 : SSA_INT;
}

/* ---- indirect.c ---- */

bool coil_find_callable(struct coil_jit *j);
bool coil_calls_address(const struct coil_program *p, uint32_t cell);
uint32_t coil_callable_blocks(const struct coil_lower *l); /* that such a call needs */
bool coil_lower_call_address(struct coil_lower *l, uint32_t next);

/* ---- extensions.c ---- */

void coil_drop_extensions(struct ssa_function *f, const struct coil_jit *j);
/* The work that compiling a function may take with all passes (COIL 7.16.4). */
uint64_t coil_work_most(const struct coil_program *p, uint32_t function);

/* ---- variables.c ---- */

bool coil_variables(struct coil_lower *l, uint32_t count, const uint8_t *types);
uint32_t coil_lower_get(struct coil_lower *l, uint32_t variable);
void coil_lower_set(struct coil_lower *l, uint32_t variable, uint32_t value);
void coil_hold_nothing(struct coil_lower *l); /* in a new block, and after a call */

/* ---- parts.c ---- */

bool coil_parts_begin(struct coil_lower *l);
void coil_parts_cut(struct coil_lower *l, uint32_t block);  /* before a block is lowered */
void coil_parts_note(struct coil_lower *l, uint32_t block); /* after it */
bool coil_parts_end(struct coil_lower *l);

/* ---- compile.c ---- */

bool coil_jit_compile(struct coil_jit *j);
void coil_jit_release(struct coil_jit *j);

/* ---- state.c ---- */

/* A function that is open: its own native frame, or inlined in another's. */
struct coil_open {
    uint32_t function, position, first, end; /* of its locations */
    uint64_t frame;
};
/* The functions that a site stands for, from the inside out; out may be NULL. */
size_t coil_jit_open_at(const struct coil_jit *j, const struct ssa_site *s, uint64_t frame,
                        struct coil_open *out);
/* Writes the state of native code, which has asked at an exit, to the machine. False: no memory. */
bool coil_jit_settle(struct coil_jit *j);
size_t coil_jit_depth(const struct coil_jit *j); /* calls of native code */
const struct ssa_site *coil_jit_site(const struct coil_jit *j, uint64_t address);
uint64_t coil_jit_value(const struct coil_jit *j, const struct ssa_location *at, uint64_t frame);
/* Of a function that has its variables in its frame: a word of it; a variable. */
uint64_t coil_jit_word(uint64_t frame, uint32_t number);
uint64_t coil_jit_variable(const struct coil_jit *j, uint32_t function, uint64_t frame,
                           uint32_t slot);

/* ---- sample.c ---- */

size_t coil_jit_sample(const penta_vm *vm, const struct native_state *at,
                       const struct code_map *map, uint64_t *pcs, size_t max);

/* ---- run.c ---- */

uint64_t coil_jit_ask(struct coil_jit *j); /* 0: native code goes on */
penta_vm *coil_jit_open(const penta_module *module, const penta_option *options, size_t count,
                        const struct engine *engine, const volatile int *stop, penta_error *err);
extern const struct engine coil_jit_engine, coil_both;
