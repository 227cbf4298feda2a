/* What the files of the emitter share. */
#pragma once
#include "ssa/allocate.h"
#include "x64/sse.h"

#define SSA_SCRATCH R11
#define SSA_FLOAT_SCRATCH 15u

struct ssa_spot {        /* a place for a value */
    uint8_t where, type; /* enum ssa_where, enum ssa_type */
    int64_t at;
};
struct ssa_move {
    struct ssa_spot to, from;
};
struct ssa_stub { /* out of line, for a check that fails */
    uint32_t site, back, position;
    struct ssa_site to;
};
struct ssa_gap { /* before an instruction: intervals of the same value meet there, and it moves */
    uint32_t at, before; /* before: the first of them */
};
struct ssa_emitter {
    struct ssa_function *f;
    struct ssa_live l;
    struct ssa_code *code, before; /* before: as it was, for a function that has no code */
    struct x64 *e;
    uint32_t function;
    uint32_t frame;    /* words, if there are several parts; 0: not known yet */
    uint32_t next;     /* block after those of the part; UINT32_MAX: none */
    uint32_t at;       /* number of the instruction under way */
    uint32_t position; /* of the last line that was noted, + 1 */
    uint32_t compared; /* a SET whose comparison is in the flags, for the SELECT after it */
    uint8_t holds;     /* the condition that says whether it holds */
    struct x64_label *labels;
    uint32_t *through; /* per block: where a jump to it really goes */
    uint32_t *order;   /* of blocks, where the front end has none */
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

/* emit_moves.c */
struct ssa_spot ssa_spot_at(const struct ssa_emitter *m, uint32_t value, uint32_t at);
void ssa_add_move(struct ssa_emitter *m, struct ssa_spot to, struct ssa_spot from);
void ssa_do_moves(struct ssa_emitter *m); /* all of them at once, then there are none */
void ssa_edge_moves(struct ssa_emitter *m, uint32_t from, uint32_t to); /* adds them */

/* A float or a vector between a register and the frame. */
void ssa_frame_load(struct ssa_emitter *m, enum ssa_type type, unsigned reg, int64_t offset);
void ssa_frame_store(struct ssa_emitter *m, enum ssa_type type, int64_t offset, unsigned reg);

/* rematerialise.c */
void ssa_load_const(struct ssa_emitter *m, struct ssa_spot to, int64_t imm);

/* emit_insn.c */
void ssa_emit_insn(struct ssa_emitter *m, uint32_t value);
enum x64_reg ssa_int_arg(struct ssa_emitter *m, uint32_t value);
unsigned ssa_float_arg(struct ssa_emitter *m, uint32_t value);
/* Compares and gives the condition of the jump that is taken if it holds. Of floats, "equal" holds only
 * where the parity flag is not set; and "not equal" also where it is. */
enum x64_cond ssa_emit_compare(struct ssa_emitter *m, const struct ssa_insn *in);
enum x64_cond ssa_emit_compare_real(struct ssa_emitter *m, const struct ssa_insn *in);

/* emit_native.c */
uint32_t ssa_native_frame(const struct ssa_live *l); /* bytes */
void ssa_native_begin(struct ssa_emitter *m);
void ssa_native_return(struct ssa_emitter *m);
void ssa_native_symbol(struct ssa_emitter *m, const struct ssa_insn *in, enum x64_reg d);
void ssa_native_foreign(struct ssa_emitter *m, const struct ssa_insn *in, uint32_t value);

/* emit.c */
void ssa_emit_site(struct ssa_emitter *m, uint32_t insn); /* for the call just written */
void ssa_emit_call(struct ssa_emitter *m, uint32_t function);
void ssa_emit_stub(struct ssa_emitter *m, enum x64_cond cond, uint32_t insn);
