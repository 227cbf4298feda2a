/* Writes the groups of instructions for which there is better code than for each instruction
 * alone (fuse.h): sums of registers and constants with the loads that use them, shifts that
 * scale an index, and additions in loops. */
#include "pvm/jit/fuse.h"
#include "pvm/jit/flow.h"

static const struct jit_group nothing = {0, 0};

static struct jit_insn fuse_at(struct jit *j, uint32_t pc)
{
    struct jit_insn in;
    jit_decode(&j->decoder, pc, &in);
    return in;
}

static struct jit_insn fuse_after(struct jit *j, const struct jit_insn *in)
{
    return fuse_at(j, in->pc + in->length);
}

static struct jit_group fuse_group(unsigned count, unsigned length)
{
    return (struct jit_group){(uint8_t)count, (uint8_t)length};
}

/* Writes d = x + y; d = load [d + offset] as one load. An address has 32 bits, so the upper
 * halves of x and y do not matter. */
static bool address_load(struct jit *j, const struct jit_insn *in, struct x64_mem m, enum x64_reg d)
{
    if (!jit_is_load(in->op) || reg_a(in) != d || reg_b(in) != d) return false;
    struct x64_mem from = emit_guest(m.base, decode_imm(in));
    from.index = m.index;
    from.scale = m.scale;
    access_memory(j, in, from);
    return true;
}

struct jit_group pvm_jit_fuse_add(struct jit *j, uint32_t pc)
{
    struct jit_insn in = fuse_at(j, pc), load = fuse_after(j, &in);
    struct x64_mem m = emit_sum(reg_a(&in), (int)reg_b(&in), 0);
    return address_load(j, &load, m, reg_d(&in)) ? fuse_group(2, in.length + load.length) : nothing;
}

/* Writes x << 32 >> 32 as one move, which extends the low half of x. */
static struct jit_group shift_low_half(struct jit *j, const struct jit_insn *in)
{
    struct jit_insn back = fuse_after(j, in);
    if (decode_imm(&back) != 32 || reg_b(&back) != reg_a(in) || reg_a(&back) != reg_a(in))
        return nothing;
    if (back.op == PVM_OP_shift_logical_right_imm_64)
        x64_mov(&j->e, X32, reg_a(in), reg_b(in));
    else if (back.op == PVM_OP_shift_arithmetic_right_imm_64)
        x64_movsxd(&j->e, reg_a(in), reg_b(in));
    else
        return nothing;
    return fuse_group(2, in->length + back.length);
}

/* Writes a shift to the left by 1 to 3 as the scale of an index in the addition after it. */
struct jit_group pvm_jit_fuse_shift(struct jit *j, uint32_t pc)
{
    struct jit_insn in = fuse_at(j, pc);
    if (!j->narrow && decode_imm(&in) == 32) return shift_low_half(j, &in);
    if (decode_imm(&in) < 1 || decode_imm(&in) > 3) return nothing;
    struct jit_insn add = fuse_after(j, &in);
    enum x64_reg d = reg_a(&in), a = reg_a(&add), b = reg_b(&add);
    if (add.op != (j->narrow ? PVM_OP_add_32 : PVM_OP_add_64) || reg_d(&add) != d ||
        (a == d) == (b == d))
        return nothing;
    struct x64_mem m = emit_sum(a == d ? b : a, (int)reg_b(&in), 0);
    m.scale = (uint8_t)decode_imm(&in);
    if (jit_is_load(jit_op_after(j, &add))) {
        struct jit_insn load = fuse_after(j, &add);
        if (address_load(j, &load, m, d))
            return fuse_group(3, in.length + add.length + load.length);
    }
    x64_lea(&j->e, j->word, d, m);
    return fuse_group(2, in.length + add.length);
}

/* Rewrites `i32 d = d + step` in a loop with a constant step. The code adds in 64 bits and
 * checks that the sum equals its sign extension, so that the next iteration need not wait for
 * the extension. The check fails at most once in 2^32 / step iterations; then code outside of
 * the loop extends d. */
struct jit_group pvm_jit_widen(struct jit *j, uint32_t pc)
{
    struct jit_insn in = fuse_at(j, pc);
    bool by_register = in.op == PVM_OP_add_32;
    enum x64_reg a = reg_a(&in), b = reg_b(&in), d = by_register ? reg_d(&in) : a;
    if (j->writes[d] != 1) return nothing;
    if (by_register) {
        enum x64_reg by = a == d ? b : a;
        if ((a == d) == (b == d) || j->writes[by]) return nothing;
        x64_add(&j->e, X64, d, by);
    } else {
        if (b != d) return nothing;
        x64_add_imm(&j->e, X64, d, (int32_t)decode_imm(&in));
    }
    x64_movsxd(&j->e, RCX, d);
    x64_cmp(&j->e, X64, RCX, d);
    pvm_jit_repair(j, x64_jcc_later(&j->e, X64_NE), d);
    return fuse_group(1, in.length);
}
