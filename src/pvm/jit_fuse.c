/* Groups of instructions with better code than their parts.
 *
 * A group writes no register before everything in it that can fault is done: a fault inside it
 * is one in front of its first instruction, from where the interpreter goes on. The others of a
 * group have no place of their own to enter at. */
#include "pvm/jit.h"

static bool is_load(const struct pvm_insn *in)
{
    return in->op >= PVM_OP_load_indirect_u8 && in->op <= PVM_OP_load_indirect_u64;
}

static bool is_add(const struct jit *j, const struct pvm_insn *in)
{
    return in->op == (j->narrow ? PVM_OP_add_32 : PVM_OP_add_64);
}

/* A shift to the left by 1 to 3: the scale of an index. */
static unsigned scale_of(const struct jit *j, const struct pvm_insn *in)
{
    unsigned op = j->narrow ? PVM_OP_shift_logical_left_imm_32 : PVM_OP_shift_logical_left_imm_64;
    return in->op == op && in->imm1 >= 1 && in->imm1 <= 3 ? (unsigned)in->imm1 : 0;
}

/* d = x op y; d = load [d + offset]: one load. Only the low halves of x and y matter to it. */
static bool address_load(struct jit *j, const struct pvm_insn *in, enum x64_reg base,
                         enum x64_reg index, unsigned scale, unsigned d)
{
    if (!is_load(in) || in->a != d || in->b != d) return false;
    struct x64_mem m = guest((int)base, in->imm1);
    m.index = (int8_t)index;
    m.scale = (uint8_t)scale;
    pvm_jit_load(j, in, m);
    return true;
}

static unsigned fuse_add(struct jit *j, const struct pvm_insn *in, unsigned left)
{
    if (left < 2) return 0;
    return address_load(j, &in[1], host(in->a), host(in->b), 0, in->d) ? 2 : 0;
}

static unsigned fuse_shift(struct jit *j, const struct pvm_insn *in, unsigned left, unsigned scale)
{
    if (left < 2 || !is_add(j, &in[1])) return 0;
    const struct pvm_insn *sum = &in[1];
    unsigned d = in->a;
    if (sum->d != d || (sum->a == d) == (sum->b == d)) return 0;
    enum x64_reg index = host(in->b), base = host(sum->a == d ? sum->b : sum->a);
    if (left > 2 && address_load(j, &in[2], base, index, scale, d)) return 3;
    x64_lea(&j->e, j->word, host(d),
            (struct x64_mem){.base = (int8_t)base, .index = (int8_t)index,
                             .scale = (uint8_t)scale});
    return 2;
}

/* x << 32 >> 32: the low half. */
static unsigned fuse_low_half(struct jit *j, const struct pvm_insn *in, unsigned left)
{
    if (left < 2 || in->op != PVM_OP_shift_logical_left_imm_64 || in->imm1 != 32) return 0;
    const struct pvm_insn *back = &in[1];
    if (back->imm1 != 32 || back->b != in->a || back->a != in->a) return 0;
    if (back->op == PVM_OP_shift_logical_right_imm_64) {
        x64_mov(&j->e, X32, host(in->a), host(in->b));
        return 2;
    }
    if (back->op == PVM_OP_shift_arithmetic_right_imm_64) {
        x64_movsxd(&j->e, host(in->a), host(in->b));
        return 2;
    }
    return 0;
}

/* ---- induction variables ---- */

static bool writes(const struct pvm_insn *in, unsigned reg)
{
    switch ((enum pvm_shape)pvm_ops[in->op].shape) {
    case PVM_REG_REG_REG:
    case PVM_REG_REG: return in->d == reg;
    case PVM_REG_REG_IMM:
    case PVM_REG_IMM:
    case PVM_REG_IMM64: return in->a == reg; /* stores too: one more careful case */
    default: return pvm_ops[in->op].flow == PVM_FLOW_HOST;
    }
}

/* `i32 d = d + step` in a loop, where the step stays the same: the 64-bit sum, and a check beside
 * it that it is the sign-extended one. That takes the extension off the chain through the
 * iterations; it fails at most once in 2^32 / step rounds, out of line. */
static bool widen(struct jit *j, const struct jit_block *b, unsigned at)
{
    const struct pvm_insn *in = &b->in[at];
    bool by_register = in->op == PVM_OP_add_32;
    if (j->narrow || !b->loops || b->copy) return false;
    unsigned d, step = 0;
    if (by_register) {
        d = in->d;
        if ((in->a == d) == (in->b == d)) return false;
        step = in->a == d ? in->b : in->a;
    } else {
        d = in->a;
        if (in->op != PVM_OP_add_imm_32 || in->b != d) return false;
    }
    for (unsigned i = 0; i < b->count; i++) {
        if (by_register && writes(&b->in[i], step)) return false;
        if (i != at && writes(&b->in[i], d)) return false;
    }
    if (by_register) x64_add(&j->e, X64, host(d), host(step));
    else x64_add_imm(&j->e, X64, host(d), (int32_t)in->imm1);
    x64_movsxd(&j->e, RCX, host(d));
    x64_cmp(&j->e, X64, RCX, host(d));
    pvm_jit_cure(j, x64_jcc_later(&j->e, X64_NE), host(d));
    return true;
}

const bool pvm_jit_fuses[PVM_OPS] = {
    [PVM_OP_add_64] = true, [PVM_OP_add_32] = true, [PVM_OP_add_imm_32] = true,
    [PVM_OP_shift_logical_left_imm_32] = true, [PVM_OP_shift_logical_left_imm_64] = true};

unsigned pvm_jit_fuse(struct jit *j, const struct jit_block *b, unsigned at)
{
    const struct pvm_insn *in = &b->in[at];
    unsigned left = b->count - at;
    switch (in->op) {
    case PVM_OP_add_64: return fuse_add(j, in, left);
    case PVM_OP_add_32:
        if (widen(j, b, at)) return 1;
        return fuse_add(j, in, left);
    case PVM_OP_add_imm_32: return widen(j, b, at) ? 1 : 0;
    case PVM_OP_shift_logical_left_imm_32:
    case PVM_OP_shift_logical_left_imm_64: {
        unsigned scale = scale_of(j, in);
        return scale ? fuse_shift(j, in, left, scale) : fuse_low_half(j, in, left);
    }
    default: return 0;
    }
}
