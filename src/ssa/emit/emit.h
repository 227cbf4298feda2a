/* The files of the emitter share these types and functions. */
#pragma once
#include "ssa/allocate.h"
#include "x64/sse.h"

#define SSA_SCRATCH R11
#define SSA_FLOAT_SCRATCH 15u

struct ssa_spot {        /* a register, frame place or constant that holds a value */
    uint8_t where, type; /* one of enum ssa_where, and one of enum ssa_type */
    int64_t at;
};
struct ssa_move {
    struct ssa_spot to, from;
};
struct ssa_stub { /* code outside the normal path, for a check that fails */
    uint32_t site, back, position;
    struct ssa_site to;
};
struct ssa_gap { /* a place between two instructions where a value moves to its next interval */
    uint32_t at, before; /* before: the interval that ends there */
};
struct ssa_emitter {
    struct ssa_function *f;
    struct ssa_live l;
    struct ssa_code *code, before; /* before: the counts of the code before this function */
    struct x64 *e;
    uint32_t function;
    /* Size of the frame in words, if the code has several parts; 0 while it is not known. */
    uint32_t frame;
    uint32_t next;     /* the first block of the next part, or UINT32_MAX */
    uint32_t at;       /* number of the instruction that is being emitted */
    uint32_t position; /* 1 + the position of the last line that was recorded */
    uint32_t compared; /* a SET whose comparison is in the flags, for the SELECT after it */
    uint8_t holds;     /* the processor's condition for which `compared` is true */
    struct x64_label *labels;
    uint32_t *through; /* per block: the block to which a jump to it really goes */
    uint32_t *order;   /* the order of the blocks, if the front end does not give one */
    struct ssa_move *moves;
    struct ssa_stub *stubs;
    struct ssa_gap *gaps;
    size_t move_count, move_capacity, stub_count, stub_capacity, gap, gap_count, gap_capacity,
        label_capacity, through_capacity, order_capacity;
};

static inline struct x64_mem ssa_frame_slot(int64_t offset)
{
    return (struct x64_mem){.base = RBP, .index = X64_NONE, .disp = (int32_t)offset};
}
static inline struct x64_mem ssa_context_field(int64_t offset)
{
    return (struct x64_mem){.base = R15, .index = X64_NONE, .disp = (int32_t)offset};
}

/* emit_moves.c defines the functions below. */
struct ssa_spot ssa_spot_at(const struct ssa_emitter *m, uint32_t value, uint32_t at);
void ssa_add_move(struct ssa_emitter *m, struct ssa_spot to, struct ssa_spot from);
void ssa_do_moves(struct ssa_emitter *m); /* does all added moves at once */
/* Adds the moves for the edge between two blocks. */
void ssa_edge_moves(struct ssa_emitter *m, uint32_t from, uint32_t to);

/* These functions move a float or a vector between a register and the frame. */
void ssa_frame_load(struct ssa_emitter *m, enum ssa_type type, unsigned reg, int64_t offset);
void ssa_frame_store(struct ssa_emitter *m, enum ssa_type type, int64_t offset, unsigned reg);

/* rematerialise.c defines the function below. */
void ssa_load_const(struct ssa_emitter *m, struct ssa_spot to, int64_t imm);

/* emit_insn.c defines the functions below. */
void ssa_emit_insn(struct ssa_emitter *m, uint32_t value);
enum x64_reg ssa_int_arg(struct ssa_emitter *m, uint32_t value);
unsigned ssa_float_arg(struct ssa_emitter *m, uint32_t value);
/* These functions emit a comparison, and return the condition of the jump that is taken if it
 * holds. For floats "equal" holds only if the parity flag is clear as well, and "not equal"
 * holds also if it is set. */
enum x64_cond ssa_emit_compare(struct ssa_emitter *m, const struct ssa_insn *in);
enum x64_cond ssa_emit_compare_real(struct ssa_emitter *m, const struct ssa_insn *in);

/* emit_native.c defines the functions below. */
uint32_t ssa_native_frame(const struct ssa_live *l); /* returns the size of the frame in bytes */
void ssa_native_begin(struct ssa_emitter *m);
void ssa_native_return(struct ssa_emitter *m);
void ssa_native_symbol(struct ssa_emitter *m, const struct ssa_insn *in, enum x64_reg d);
void ssa_native_foreign(struct ssa_emitter *m, const struct ssa_insn *in, uint32_t value);

/* emit.c defines the functions below. */
/* Records the site of the call that was emitted last. */
void ssa_emit_site(struct ssa_emitter *m, uint32_t insn);
void ssa_emit_call(struct ssa_emitter *m, uint32_t function);
void ssa_emit_stub(struct ssa_emitter *m, enum x64_cond cond, uint32_t insn);
