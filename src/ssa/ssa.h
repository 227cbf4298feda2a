/* This is a small optimising compiler. Any front end can give it functions in SSA form, and it
 * makes x86-64 code of them. These are its terms:
 *
 *     function     a list of blocks; the first one is the entry
 *     block        phis, then instructions; the last instruction ends the block
 *     instruction  its number is also that of its value; ops.def says what each operation does
 *     exit         a place where native code calls the run time, to ask something or to leave: the
 *                  position in the guest program, and the values that make up the state of the
 *                  guest there. Each value has a key, which the front end chose.
 *
 * Integers have 64 bits. A `narrow` instruction works on the low 32 bits, and the upper half of its
 * result is zero. Native code runs with three reserved registers (enum ssa_fixed) and saves none of
 * the other registers: a value that lives through a call is kept in the frame of the function,
 * which the frame register points to.
 *
 * A `native` function is for an object file. It has no exits, its frame is on the stack, it may
 * call C functions (FOREIGN), and the linker fills in the addresses of symbols (ssa_reloc).
 *
 * A front end makes blocks, declares variables, and writes and reads them (build.c), which gives
 * SSA form directly. ssa_optimise runs the passes, and ssa_emit writes the code. When memory runs
 * out, `failed` is set and all later calls have no effect, so it is enough to look at it at the
 * end. */
#pragma once
#include "ssa/work.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/array.h"
#include "base/writer.h"
#include "x64/access.h"

/* SSA_RESERVE is like ARRAY_RESERVE. If there is no memory, it also sets `failed` of the owner. */
#define SSA_RESERVE(owner, items, capacity, need)                                                  \
    (ARRAY_RESERVE(items, capacity, need) || ((owner)->failed = true, false))

enum ssa_op {
#define OP(name, ...) SSA_##name,
#include "ssa/ops.def"
    SSA_OPS
};
struct ssa_op_info {
    const char *text, *traits;
    uint8_t args;
};
extern const struct ssa_op_info ssa_ops[SSA_OPS];
/* clang-format off */
/* Tells whether an operation has a trait of ops.def. If the trait is constant, this compiles to
 * a table. */
static inline bool ssa_has(enum ssa_op op, char trait)
{
    switch (op) {
#define OP(name, text, args, traits) case SSA_##name: return __builtin_strchr(traits, trait) != NULL;
#include "ssa/ops.def"
    default: return false;
    }
}
enum ssa_type { SSA_VOID, SSA_INT, SSA_F32, SSA_F64, SSA_V128, SSA_V256, SSA_TYPES };
enum ssa_cond { SSA_EQ, SSA_NE, SSA_LT, SSA_LE, SSA_GT, SSA_GE, SSA_B, SSA_BE, SSA_A, SSA_AE, SSA_CONDS };
/* The kinds of memory accesses are in the order of enum x64_access. SSA_M512 is used only for
 * checks. */
enum ssa_mem { SSA_I8, SSA_U8, SSA_I16, SSA_U16, SSA_I32, SSA_U32, SSA_X64, SSA_MF32, SSA_MF64,
               SSA_M128, SSA_M256, SSA_M512, SSA_MEMS };
/* clang-format on */
/* The reserved registers are R15, R14 and RBP. */
enum ssa_fixed { SSA_CONTEXT, SSA_MEMORY, SSA_FRAME, SSA_FIXEDS };

extern const char *const ssa_cond_names[SSA_CONDS], *const ssa_mem_names[SSA_MEMS],
                                                        *const ssa_type_names[SSA_TYPES];

enum { SSA_PARAMS = 6 }; /* most arguments, and most results, of a call; they are in registers */

struct ssa_insn {
    uint8_t op, type;
    uint8_t cond, mem, scale; /* scale: number of bits by which the index is shifted left */
    bool narrow;
    uint32_t block, prev, next;
    uint32_t arg[3];      /* numbers of the argument values; 0: none */
    uint32_t list, count; /* place and length of its list in the pool */
    uint32_t exit;        /* 1 + the number of its exit; 0: none */
    /* This is 1 + the position of the guest instruction that it belongs to, or 0. */
    uint32_t position;
    int64_t imm;
};
struct ssa_block {
    uint32_t first, last; /* first and last instruction of the block; 0: none */
    uint32_t to[2];       /* targets of JUMP, BRANCH or FBRANCH */
    uint32_t *preds;
    size_t pred_capacity;
    uint32_t pred_count;
    bool sealed;
    bool edge; /* true if the block was made for an edge (edges.c) */
    bool cold; /* true if the block rarely runs */
    /* True if a jump leads back to the block; the front end sets it if code is made in parts. */
    bool loops;
    uint32_t follows; /* for an inlined block: 1 + the block with the call; else 0 */
};
struct ssa_state { /* a part of the guest's state at an exit */
    uint32_t key, value;
};
/* These two keys come between the state of an inlined function and the state of its caller.
 * Their values are the number of the caller and the position of the call. */
#define SSA_KEY_CALLER UINT32_C(0xFFFFFFFF)
#define SSA_KEY_CALLER_POSITION UINT32_C(0xFFFFFFFE)
struct ssa_exit {
    uint32_t kind, position; /* The front end defines the meaning of these numbers. */
    uint32_t function;       /* number of the function that contains the exit */
    uint32_t first, count;   /* place and length of its state in `states` */
};
struct ssa_region { /* memory whose guest addresses are known when code is made */
    uint64_t base, size;
    bool writable;
};
/* Checks compare with these limits. They are words of the context, so that an interrupt can make
 * all checks fail. */
struct ssa_limits {
    uint32_t offset; /* offset of the first limit in the context */
    uint32_t count, capacity;
    uint64_t *words;
};
struct ssa_function {
    /* The memory of the arrays below is used again for the next function. */
    struct ssa_insn *insns; /* insns[0] is not an instruction */
    struct ssa_block *blocks;
    uint32_t *pool;
    struct ssa_exit *exits;
    struct ssa_state *states;
    uint32_t *current; /* used by the builder: per block and variable the current value, or 0 */
    uint8_t *variable_types;
    uint32_t *unfilled; /* phis that have no arguments yet */
    size_t capacity, block_capacity, pool_capacity, exit_capacity, state_capacity, current_capacity,
        type_capacity, unfilled_capacity;
    size_t block_made; /* number of blocks that have memory for predecessors */
    /* ssa_clear sets all fields from here on to zero. */
    size_t count, block_count, pool_count, exit_count, state_count, unfilled_count;
    uint32_t number; /* number of the function, which its exits contain */
    bool failed;
    bool native;
    bool avx2; /* true if vectors may have 32 bytes; code then uses the encoding of AVX */
    /* This many bytes at the start of the frame belong to the front end. It is a multiple of 16. */
    uint32_t reserved;
    uint32_t position; /* position that new instructions get */
    const struct ssa_region *regions;
    size_t region_count;
    struct ssa_limits *limits; /* NULL if limits are constants */
    uint32_t variables;        /* number of variables that the builder knows */
    uint32_t at;               /* the block to which the builder adds instructions */
    /* These values of the first block stand for the reserved registers; a 0 means that there is
     * none yet. */
    uint32_t fixed[SSA_FIXEDS];
    struct ssa_work *work; /* NULL if the work is not limited */
    /* True if code is made in parts, without passes. A value may then be used only in the block
     * that computes it, or in a block whose only predecessor is that block. */
    bool apart;
    uint32_t lasting; /* with `apart`: number of the instructions that all parts need */
};

/* Counts steps of work before they are done. Returns false if there was too much work. */
static inline bool ssa_work(const struct ssa_function *f, uint64_t steps)
{
    return ssa_work_do(f->work, steps);
}

extern const uint8_t ssa_mem_bits[SSA_MEMS]; /* log2 of the size in bytes */
/* Returns the type of a loaded value. The types above integers have the same order in both
 * lists. */
static inline enum ssa_type ssa_loaded(enum ssa_mem mem)
{
    return mem <= SSA_X64 ? SSA_INT : (enum ssa_type)(mem - SSA_MF32 + SSA_F32);
}

/* form.c and fold.c define the functions below. */

void ssa_init(struct ssa_function *f);
void ssa_fini(struct ssa_function *f);
/* Makes a function empty as after ssa_init, but keeps its memory. */
void ssa_clear(struct ssa_function *f);
/* Makes an instruction that is not in a block yet. Returns 0 if there is no memory. */
uint32_t ssa_new(struct ssa_function *f, enum ssa_op op, enum ssa_type type);
void ssa_append(struct ssa_function *f, uint32_t block, uint32_t value);
void ssa_insert(struct ssa_function *f, uint32_t before, uint32_t value);
void ssa_prepend(struct ssa_function *f, uint32_t block, uint32_t value);
/* These functions add a constant at the end of a block, or before an instruction. */
uint32_t ssa_const_in(struct ssa_function *f, uint32_t block, uint64_t imm);
uint32_t ssa_const_before(struct ssa_function *f, uint32_t before, uint64_t imm);
void ssa_remove(struct ssa_function *f, uint32_t value);
uint32_t ssa_block(struct ssa_function *f);
/* Adds block `from` to the predecessors of block `to`. */
bool ssa_edge(struct ssa_function *f, uint32_t from, uint32_t to);
/* Adds a list to the pool and returns its place. */
uint32_t ssa_list(struct ssa_function *f, const uint32_t *items, uint32_t count);
/* Adds an item to the last list of the pool. */
void ssa_item(struct ssa_function *f, uint32_t item);
/* Adds the argument of a phi for one more edge into its block. */
void ssa_phi_add(struct ssa_function *f, uint32_t phi, uint32_t value);
/* Calls fn for every value that an instruction uses, including those in its list and its exit. */
typedef void ssa_use_fn(void *user, uint32_t *use);
void ssa_uses(struct ssa_function *f, uint32_t value, ssa_use_fn *fn, void *user);
/* Returns the successors of a block, and their number in *n. The result is valid until the
 * function changes. */
const uint32_t *ssa_successors(const struct ssa_function *f, uint32_t block, uint32_t *n);
/* Returns the value that a chain of copies ends at. */
uint32_t ssa_origin(const struct ssa_function *f, uint32_t value);
/* Returns the same value as ssa_origin, and makes each copy on the way refer to that value
 * directly. */
uint32_t ssa_shorten(struct ssa_function *f, uint32_t value);
ssa_use_fn ssa_to_origin; /* a callback for ssa_uses; its argument `user` is the function */
bool ssa_is_const(const struct ssa_function *f, uint32_t value, int64_t *imm);
extern const uint8_t ssa_cond_not[SSA_CONDS]; /* per condition: the opposite condition */
/* Tells whether a comparison of two constants holds. */
bool ssa_cond_holds(enum ssa_cond cond, bool narrow, int64_t a, int64_t b);

/* build.c defines the functions below. */

/* Declares the variables 0 to count - 1. All blocks must exist at this time, but edges need not. */
void ssa_variables(struct ssa_function *f, uint32_t count, const uint8_t *types);
void ssa_write(struct ssa_function *f, uint32_t variable, uint32_t value);
uint32_t ssa_read(struct ssa_function *f, uint32_t variable);
/* Later instructions are added to this block. */
void ssa_start(struct ssa_function *f, uint32_t block);
/* Tells the builder that all predecessors of a block are known. */
void ssa_seal(struct ssa_function *f, uint32_t block);
uint32_t ssa_const(struct ssa_function *f, int64_t imm);
uint32_t ssa_fixed(struct ssa_function *f, enum ssa_fixed which);
uint32_t ssa_op1(struct ssa_function *f, enum ssa_op op, enum ssa_type type, uint32_t a);
uint32_t ssa_op2(struct ssa_function *f, enum ssa_op op, enum ssa_type type, bool narrow,
                 uint32_t a, uint32_t b);
uint32_t ssa_compare(struct ssa_function *f, enum ssa_op op, enum ssa_cond cond, bool narrow,
                     uint32_t a, uint32_t b);
struct ssa_address {
    uint32_t base, index;
    uint8_t scale;
    int64_t disp;
};
uint32_t ssa_load(struct ssa_function *f, enum ssa_mem mem, struct ssa_address at);
void ssa_store(struct ssa_function *f, enum ssa_mem mem, struct ssa_address at, uint32_t value);
/* Begins an exit, to which ssa_keep adds state. Returns 1 + the number of the exit. */
uint32_t ssa_exit(struct ssa_function *f, uint32_t kind, uint32_t position);
void ssa_keep(struct ssa_function *f, uint32_t key, uint32_t value);
uint32_t ssa_effect(struct ssa_function *f, enum ssa_op op, uint32_t exit);
/* Checks an access to memory. `window` is the offset of a window in the context. */
void ssa_window(struct ssa_function *f, enum ssa_mem mem, struct ssa_address at, bool write,
                uint32_t window, uint32_t exit);
void ssa_jump(struct ssa_function *f, uint32_t to);
void ssa_branch(struct ssa_function *f, enum ssa_op op, enum ssa_cond cond, bool narrow, uint32_t a,
                uint32_t b, uint32_t yes, uint32_t no);

/* loops.c finds the order, the dominators and the loops of a function. */

struct ssa_loops {
    /* These are the blocks that can be reached, in reverse postorder, and their number. */
    uint32_t *order, count;
    uint32_t *number;    /* per block: 1 + its place in `order`; 0 if it cannot be reached */
    uint32_t *dominator; /* per block: its immediate dominator */
    /* Per block: 1 + the header of its innermost loop; 0 if it is in no loop. */
    uint32_t *header;
    /* Per header: 1 + the header of the loop around it; 0 if there is none. */
    uint32_t *outer;
    uint32_t *depth; /* per block: number of loops around it */
    /* tree[b] to tree_end[b] is the range of the numbers of the blocks that block b dominates. */
    uint32_t *tree, *tree_end;
    /* The blocks of all loops; those of one loop are next to each other. */
    uint32_t *members;
    /* For each header this is the part of `members` that has the blocks of its loop. */
    uint32_t *member_first, *member_count;
    struct ssa_work *work; /* counts the work for the function */
    /* True if there are cycles with several entries (irreducible); they do not count as loops. */
    bool tangled;
};
bool ssa_loops(struct ssa_loops *l, const struct ssa_function *f);
void ssa_loops_free(struct ssa_loops *l);
bool ssa_dominates(const struct ssa_loops *l, uint32_t a, uint32_t b);
bool ssa_in_loop(const struct ssa_loops *l, uint32_t block, uint32_t header);
/* Returns the only block outside of a loop that leads to the header of the loop, if it leads
 * nowhere else, or UINT32_MAX. */
uint32_t ssa_preheader(const struct ssa_function *f, const struct ssa_loops *l, uint32_t header);

/* Each pass is in a file of its own. */

struct ssa_pass {
    const char *name;
    void (*run)(struct ssa_function *f);
    const char *what;
};
/* These are the passes in their order; the last row has a NULL name. */
extern const struct ssa_pass ssa_passes[];
#define PASS(name, ...) void ssa_pass_##name(struct ssa_function *f);
#define AGAIN(...)
#include "ssa/passes.def"
/* Removes the edge between two blocks, and the argument that each phi has for this edge. */
void ssa_unlink(struct ssa_function *f, uint32_t from, uint32_t to);
/* Inserts a block on the edge that leads to block `to` from its predecessor with the index
 * `which`. */
uint32_t ssa_split_edge(struct ssa_function *f, uint32_t to, uint32_t which);
/* Replaces a call of g by the blocks of g (inline.c). */
void ssa_inline(struct ssa_function *f, uint32_t call, const struct ssa_function *g);
/* Runs all passes. If `after` is not NULL, it is called after each of them. */
typedef void ssa_after_fn(void *user, const char *pass, const struct ssa_function *f);
void ssa_optimise(struct ssa_function *f, ssa_after_fn *after, void *user);

/* The functions below print, read and check functions in SSA form. */

void ssa_print(const struct ssa_function *f, struct writer *out);
bool ssa_parse(struct ssa_function *f, const char *text, penta_error *err);
/* If a function breaks a rule of the form, this returns false and sets *err to the first fault. */
bool ssa_verify(const struct ssa_function *f, penta_error *err);

enum ssa_where { SSA_AT_CONST, SSA_AT_REGISTER, SSA_AT_FLOAT_REGISTER, SSA_AT_FRAME };
struct ssa_location {
    uint32_t key;
    uint8_t where; /* one of enum ssa_where */
    int64_t at;    /* the constant, the register, or the offset from the frame register */
};
struct ssa_site {    /* a call of the stub for exits, or of a function */
    uint32_t native; /* its return address, as an offset from the start of the code */
    uint32_t kind, position, function;
    /* This function contains the code; `function` may be inlined in it. */
    uint32_t owner;
    uint32_t first, count; /* place and number of its state in `locations` */
};
/* Tells what the linker must fill in, in the code of native functions. */
enum ssa_reloc_kind {
    SSA_RELOC_CALL, /* the field gets the address of a function that is called */
    SSA_RELOC_NEAR, /* the field gets the address of a symbol */
    /* The field gets the address of an entry of the global offset table, which has the symbol's
     * address. */
    SSA_RELOC_TABLE
};
struct ssa_reloc { /* a field of four bytes, whose value is relative to its end */
    uint32_t at, symbol;
    uint8_t kind;
};
struct ssa_line { /* the code from `native` on belongs to this guest instruction */
    uint32_t native, position;
};
/* This struct has the code of many functions. The front end must bind the stubs before it emits
 * the first function. */
struct ssa_code {
    struct x64 e;
    uint32_t *functions; /* per function: the offset where its code begins */
    uint32_t ask;        /* offset of the stub that exits call; the stub saves all registers */
    uint32_t *frames;    /* per function: size of its frame in bytes */
    struct ssa_call {
        uint32_t site, function;
    } * calls;                   /* calls whose distances ssa_link fills in */
    struct ssa_emitter *emitter; /* The emitter's memory is used for all functions. */
    struct ssa_site *sites;
    struct ssa_location *locations;
    size_t site_count, site_capacity, location_count, location_capacity, call_count, call_capacity;
    struct ssa_line *lines; /* guest positions, in the order of their code */
    size_t line_count, line_capacity;
    bool failed;
    /* The fields below are used only by native functions. */
    struct ssa_reloc *relocs;
    uint32_t *returns; /* offsets of the ret instructions */
    size_t reloc_count, reloc_capacity, return_count, return_capacity;
};
enum { SSA_WINDOW_SIZES = 7 };
/* A window of memory: an access to address a with 1 << k bytes is allowed if a - base <
 * limit[k]. */
struct ssa_window {
    uint64_t base, limit[SSA_WINDOW_SIZES];
};
/* Appends the code of a function. If it returns false, the function has no code, and everything
 * is as it was before. */
bool ssa_emit(struct ssa_function *f, uint32_t number, struct ssa_code *code);
/* These functions append the code of a function that is `apart`, in parts while the function is
 * built, so that the data in use stay in the caches. All blocks must exist when it begins, and
 * have no instructions yet. A part is some blocks in the order of their code; the blocks lose
 * their instructions when the part is emitted. `next` is the block with which the next part
 * begins, or UINT32_MAX after the last part. */
bool ssa_emit_begin(struct ssa_function *f, uint32_t number, struct ssa_code *code);
void ssa_emit_part(struct ssa_code *code, const uint32_t *blocks, uint32_t count, uint32_t next);
bool ssa_emit_end(struct ssa_code *code);
void ssa_emit_free(struct ssa_code *code); /* frees what is needed only while code is made */
void ssa_link(struct ssa_code *code);      /* called when all functions have been emitted */
extern const uint8_t ssa_param_registers[SSA_PARAMS];
