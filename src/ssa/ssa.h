/* A small optimiser: functions in SSA form, from any front end, to x86-64.
 *
 *     function     blocks; the first is the entry
 *     block        phis, instructions, one that ends it
 *     instruction  its number is its value; ops.def says what it does
 *     exit         a place where native code asks or leaves: a position of the guest, and the values
 *                  that make up the guest's state there, each under a key that the front end chose
 *
 * Integers have 64 bits; an instruction that is `narrow` works on the low 32, and its result has
 * zeros above. Native code runs with three reserved registers (enum ssa_fixed) and saves none of the
 * others: what lives across a call is in the function's frame, at the frame register.
 *
 * A function that is `native` is for an object file: it has no exits, its frame is on the stack, it may
 * call C functions (FOREIGN), and addresses of symbols are left to the linker (ssa_reloc).
 *
 * A front end makes blocks, declares variables, and writes and reads them (build.c), which gives SSA
 * form directly. ssa_optimise runs the passes, ssa_emit writes code. Memory running out sets
 * `failed`; everything after that is without effect, so it is asked for once at the end. */
#pragma once
#include "ssa/work.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/array.h"
#include "base/writer.h"
#include "x64/access.h"

/* ARRAY_RESERVE that notes in its owner that there is no memory. */
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
/* Whether an operation has a trait of ops.def; a constant one is a table. */
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
/* In the order of enum x64_access; the last one is for checks alone. */
enum ssa_mem { SSA_I8, SSA_U8, SSA_I16, SSA_U16, SSA_I32, SSA_U32, SSA_X64, SSA_MF32, SSA_MF64,
               SSA_M128, SSA_M256, SSA_M512, SSA_MEMS };
/* clang-format on */
enum ssa_fixed { SSA_CONTEXT, SSA_MEMORY, SSA_FRAME, SSA_FIXEDS }; /* R15, R14, RBP */

extern const char *const ssa_cond_names[SSA_CONDS], *const ssa_mem_names[SSA_MEMS],
                                                        *const ssa_type_names[SSA_TYPES];

enum { SSA_PARAMS = 6 }; /* arguments and results of a call, in registers */

struct ssa_insn {
    uint8_t op, type;
    uint8_t cond, mem, scale; /* scale: the index is shifted by this */
    bool narrow;
    uint32_t block, prev, next;
    uint32_t arg[3];      /* 0: none */
    uint32_t list, count; /* in the pool */
    uint32_t exit;        /* its number + 1; 0: none */
    uint32_t position;    /* of the guest instruction that it comes from, + 1; 0: none */
    int64_t imm;
};
struct ssa_block {
    uint32_t first, last; /* instructions, 0: none */
    uint32_t to[2];       /* of JUMP, BRANCH, SWITCH */
    uint32_t *preds;
    size_t pred_capacity;
    uint32_t pred_count;
    bool sealed;
    bool edge;        /* made for an edge: edges.c */
    bool cold;        /* rarely runs */
    bool loops;       /* a jump leads back here: for code in parts, where nothing else tells */
    uint32_t follows; /* of an inlined function: the block of the call, + 1 */
};
struct ssa_state { /* a part of the guest's state */
    uint32_t key, value;
};
/* Keys that end the state of an inlined function: what follows is that of its caller. Their values are
 * the caller's number and the position of the call. */
#define SSA_KEY_CALLER UINT32_C(0xFFFFFFFF)
#define SSA_KEY_CALLER_POSITION UINT32_C(0xFFFFFFFE)
struct ssa_exit {
    uint32_t kind, position; /* what the front end makes of them */
    uint32_t function;       /* the number of the function it is in */
    uint32_t first, count;   /* in states */
};
struct ssa_region { /* memory whose place is known when code is made, by guest address */
    uint64_t base, size;
    bool writable;
};
/* Limits of checks as words of the context, so that an interrupt can make all checks fail. */
struct ssa_limits {
    uint32_t offset; /* of the first one in the context */
    uint32_t count, capacity;
    uint64_t *words;
};
struct ssa_function {
    /* memory that serves the next function too */
    struct ssa_insn *insns; /* [0] is no instruction */
    struct ssa_block *blocks;
    uint32_t *pool;
    struct ssa_exit *exits;
    struct ssa_state *states;
    uint32_t *current; /* of the builder, per block and variable: the value, or 0 */
    uint8_t *variable_types;
    uint32_t *unfilled; /* phis without their arguments */
    size_t capacity, block_capacity, pool_capacity, exit_capacity, state_capacity, current_capacity,
        type_capacity, unfilled_capacity;
    size_t block_made; /* blocks that have had predecessors, or have them */
    /* from here on zeros for an empty one */
    size_t count, block_count, pool_count, exit_count, state_count, unfilled_count;
    uint32_t number; /* of the function, for exits */
    bool failed;
    bool native;
    bool avx2;         /* vectors may have 32 bytes; code is in the encoding of AVX */
    uint32_t reserved; /* bytes at the start of its frame for the front end; a multiple of 16 */
    uint32_t position; /* of instructions that are made from now on */
    const struct ssa_region *regions;
    size_t region_count;
    struct ssa_limits *limits;  /* NULL: limits are constants */
    uint32_t variables;         /* of the builder */
    uint32_t at;                /* block under way */
    uint32_t fixed[SSA_FIXEDS]; /* reserved registers that are used, in the first block */
    struct ssa_work *work;      /* NULL: any */
    bool apart; /* a value is used in its block, or in one that only that leads to: no passes */
    uint32_t lasting; /* then: instructions that all parts of its code need */
};

/* Counts work before it is done. False: there was too much of it. */
static inline bool ssa_work(const struct ssa_function *f, uint64_t steps)
{
    return ssa_work_do(f->work, steps);
}

extern const uint8_t ssa_mem_bits[SSA_MEMS]; /* log2 of the bytes */
/* The type of what is loaded: above integers both lists have the same order. */
static inline enum ssa_type ssa_loaded(enum ssa_mem mem)
{
    return mem <= SSA_X64 ? SSA_INT : (enum ssa_type)(mem - SSA_MF32 + SSA_F32);
}

/* ---- form.c ---- */

void ssa_init(struct ssa_function *f);
void ssa_fini(struct ssa_function *f);
void ssa_clear(struct ssa_function *f); /* as after ssa_init, with the memory that it has */
/* A new instruction, not in any block; 0: no memory. */
uint32_t ssa_new(struct ssa_function *f, enum ssa_op op, enum ssa_type type);
void ssa_append(struct ssa_function *f, uint32_t block, uint32_t value);
void ssa_insert(struct ssa_function *f, uint32_t before, uint32_t value);
void ssa_prepend(struct ssa_function *f, uint32_t block, uint32_t value);
/* A constant at the end of a block, or before an instruction. */
uint32_t ssa_const_in(struct ssa_function *f, uint32_t block, uint64_t imm);
uint32_t ssa_const_before(struct ssa_function *f, uint32_t before, uint64_t imm);
void ssa_remove(struct ssa_function *f, uint32_t value);
uint32_t ssa_block(struct ssa_function *f);
bool ssa_edge(struct ssa_function *f, uint32_t from, uint32_t to); /* adds a predecessor */
uint32_t ssa_list(struct ssa_function *f, const uint32_t *items, uint32_t count); /* in the pool */
void ssa_item(struct ssa_function *f, uint32_t item); /* one more for the list made last */
void ssa_phi_add(struct ssa_function *f, uint32_t phi, uint32_t value); /* for one more edge */
/* Calls fn for every value that the instruction uses, in its list and its exit too. */
typedef void ssa_use_fn(void *user, uint32_t *use);
void ssa_uses(struct ssa_function *f, uint32_t value, ssa_use_fn *fn, void *user);
/* The successors of a block; n gets their number. They are valid until the function changes. */
const uint32_t *ssa_successors(const struct ssa_function *f, uint32_t block, uint32_t *n);
/* Copies followed to their origin. */
uint32_t ssa_origin(const struct ssa_function *f, uint32_t value);
/* The same; from then on each copy on the way leads there at once. */
uint32_t ssa_shorten(struct ssa_function *f, uint32_t value);
ssa_use_fn ssa_to_origin; /* for ssa_uses; user is the function */
bool ssa_is_const(const struct ssa_function *f, uint32_t value, int64_t *imm);
extern const uint8_t ssa_cond_not[SSA_CONDS]; /* the one that holds when another does not */
/* Whether a comparison of constants holds. */
bool ssa_cond_holds(enum ssa_cond cond, bool narrow, int64_t a, int64_t b);

/* ---- build.c ---- */

/* Variables 0 to count - 1; all blocks must exist, edges need not. */
void ssa_variables(struct ssa_function *f, uint32_t count, const uint8_t *types);
void ssa_write(struct ssa_function *f, uint32_t variable, uint32_t value);
uint32_t ssa_read(struct ssa_function *f, uint32_t variable);
void ssa_start(struct ssa_function *f, uint32_t block); /* what follows goes there */
void ssa_seal(struct ssa_function *f, uint32_t block);  /* all its predecessors are known */
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
/* Begins an exit; ssa_keep adds state to it. Returns its number + 1. */
uint32_t ssa_exit(struct ssa_function *f, uint32_t kind, uint32_t position);
void ssa_keep(struct ssa_function *f, uint32_t key, uint32_t value);
uint32_t ssa_effect(struct ssa_function *f, enum ssa_op op, uint32_t exit);
/* Checks an access; window: offset of its window in the context. */
void ssa_window(struct ssa_function *f, enum ssa_mem mem, struct ssa_address at, bool write,
                uint32_t window, uint32_t exit);
void ssa_jump(struct ssa_function *f, uint32_t to);
void ssa_branch(struct ssa_function *f, enum ssa_op op, enum ssa_cond cond, bool narrow, uint32_t a,
                uint32_t b, uint32_t yes, uint32_t no);

/* ---- analyses: loops.c ---- */

struct ssa_loops {
    uint32_t *order, count;    /* reachable blocks in reverse postorder */
    uint32_t *number;          /* per block: place in order + 1; 0: not reachable */
    uint32_t *dominator;       /* per block */
    uint32_t *header;          /* per block: of the innermost loop, + 1; 0: in none */
    uint32_t *outer;           /* per header: of the loop around it, + 1 */
    uint32_t *depth;           /* per block */
    uint32_t *tree, *tree_end; /* per block: the blocks it dominates have numbers in this range */
    uint32_t *members;         /* blocks of loops; those of a loop are next to each other */
    uint32_t *member_first, *member_count; /* per header */
    struct ssa_work *work;                 /* that of the function */
    bool tangled; /* there are cycles with two entries (irreducible), which are no loops here */
};
bool ssa_loops(struct ssa_loops *l, const struct ssa_function *f);
void ssa_loops_free(struct ssa_loops *l);
bool ssa_dominates(const struct ssa_loops *l, uint32_t a, uint32_t b);
bool ssa_in_loop(const struct ssa_loops *l, uint32_t block, uint32_t header);
/* The only block outside that leads to the header, and leads nowhere else; UINT32_MAX: none. */
uint32_t ssa_preheader(const struct ssa_function *f, const struct ssa_loops *l, uint32_t header);

/* ---- passes, a file each ---- */

struct ssa_pass {
    const char *name;
    void (*run)(struct ssa_function *f);
    const char *what;
};
extern const struct ssa_pass ssa_passes[]; /* in the order in which they run; ends with NULL */
#define PASS(name, ...) void ssa_pass_##name(struct ssa_function *f);
#define AGAIN(...)
#include "ssa/passes.def"
/* Removes the edge between two blocks, with what phis have for it. */
void ssa_unlink(struct ssa_function *f, uint32_t from, uint32_t to);
/* Puts a block on the edge by which predecessor number `which` of a block leads there. */
uint32_t ssa_split_edge(struct ssa_function *f, uint32_t to, uint32_t which);
/* inline.c: puts the blocks of g in place of a call of it. */
void ssa_inline(struct ssa_function *f, uint32_t call, const struct ssa_function *g);
/* Runs all of them; after each, calls `after` if there is one. */
typedef void ssa_after_fn(void *user, const char *pass, const struct ssa_function *f);
void ssa_optimise(struct ssa_function *f, ssa_after_fn *after, void *user);

/* ---- text ---- */

void ssa_print(const struct ssa_function *f, struct writer *out);
bool ssa_parse(struct ssa_function *f, const char *text, penta_error *err);
/* False and the first thing that is wrong. */
bool ssa_verify(const struct ssa_function *f, penta_error *err);

/* ---- code ---- */

enum ssa_where { SSA_AT_CONST, SSA_AT_REGISTER, SSA_AT_FLOAT_REGISTER, SSA_AT_FRAME };
struct ssa_location {
    uint32_t key;
    uint8_t where; /* enum ssa_where */
    int64_t at;    /* constant, register, offset from the frame register */
};
struct ssa_site {    /* a call of the stub, or of a function */
    uint32_t native; /* the return address, from the start of the code */
    uint32_t kind, position, function;
    uint32_t owner;        /* the function whose code it is in; another one if that was inlined */
    uint32_t first, count; /* in locations */
};
/* Of native functions. */
enum ssa_reloc_kind {
    SSA_RELOC_CALL, /* the target of a call */
    SSA_RELOC_NEAR, /* the address of a symbol */
    SSA_RELOC_TABLE /* where the address is stored: an entry of the global offset table */
};
struct ssa_reloc { /* four bytes, relative to their end */
    uint32_t at, symbol;
    uint8_t kind;
};
struct ssa_line { /* code from here on is of this guest instruction */
    uint32_t native, position;
};
/* Code of many functions. The front end binds the stubs before it emits the first one. */
struct ssa_code {
    struct x64 e;
    uint32_t *functions; /* per function: where its code begins */
    uint32_t ask;        /* where the stub is that exits call: it saves all registers */
    uint32_t *frames;    /* per function: bytes of its frame */
    struct ssa_call {
        uint32_t site, function;
    } * calls;                   /* their distances are filled in by ssa_link */
    struct ssa_emitter *emitter; /* its memory serves all functions */
    struct ssa_site *sites;
    struct ssa_location *locations;
    size_t site_count, site_capacity, location_count, location_capacity, call_count, call_capacity;
    struct ssa_line *lines; /* in the order of their code */
    size_t line_count, line_capacity;
    bool failed;
    /* of native functions */
    struct ssa_reloc *relocs;
    uint32_t *returns; /* places of ret instructions */
    size_t reloc_count, reloc_capacity, return_count, return_capacity;
};
enum { SSA_WINDOW_SIZES = 7 };
/* A window: an address a may be accessed with 1 << k bytes if a - base < limit[k]. */
struct ssa_window {
    uint64_t base, limit[SSA_WINDOW_SIZES];
};
/* Appends the code of a function. False: it has none, and everything is as it was before. */
bool ssa_emit(struct ssa_function *f, uint32_t number, struct ssa_code *code);
/* The same for one that is `apart`, in parts while it is built, so that what is worked on stays in the
 * caches: all blocks exist when it begins and have no instructions yet. A part is blocks in the order of
 * their code; their instructions are gone after it. next: the block that the next part begins with;
 * UINT32_MAX: it was the last. */
bool ssa_emit_begin(struct ssa_function *f, uint32_t number, struct ssa_code *code);
void ssa_emit_part(struct ssa_code *code, const uint32_t *blocks, uint32_t count, uint32_t next);
bool ssa_emit_end(struct ssa_code *code);
void ssa_emit_free(struct ssa_code *code); /* what only making code needs */
void ssa_link(struct ssa_code *code);      /* when all functions are emitted */
extern const uint8_t ssa_param_registers[SSA_PARAMS];
