/* Turns divisions by constants into multiplications and shifts, after Granlund and Montgomery,
 * "Division by invariant integers using multiplication" (1994). The quotient of x by d is the
 * upper part of x * m, where m is 2^k / d, rounded up, for a k that makes the error too small to
 * matter. */
#include "base/u128.h"
#include "ssa/ssa.h"

struct site { /* the place where new instructions are inserted */
    struct ssa_function *f;
    uint32_t before;
};

static uint32_t strength_make(struct site *s, enum ssa_op op, bool narrow, uint32_t a, uint32_t b)
{
    uint32_t value = ssa_new(s->f, op, SSA_INT);
    if (!value) return 0;
    struct ssa_insn *in = &s->f->insns[value];
    in->arg[0] = a;
    in->arg[1] = b;
    in->narrow = narrow;
    ssa_insert(s->f, s->before, value);
    return value;
}

static uint32_t strength_shift(struct site *s, enum ssa_op op, bool narrow, uint32_t a,
                               unsigned count)
{
    return count ? strength_make(s, op, narrow, a, ssa_const_before(s->f, s->before, count)) : a;
}

/* Returns the number of bits of d - 1, which is the least k with d <= 2^k. */
static unsigned log_up(uint64_t d) { return d > 1 ? 64 - (unsigned)__builtin_clzll(d - 1) : 0; }

static bool is_power(uint64_t d) { return !(d & (d - 1)); }

static uint32_t divide_unsigned(struct site *s, bool narrow, uint32_t x, uint64_t d)
{
    unsigned bits = log_up(d);
    if (is_power(d)) return strength_shift(s, SSA_SHR, narrow, x, bits);
    /* For 32 bits, 2^64 / d is exact enough for every x. */
    if (narrow) {
        uint32_t by = ssa_const_before(s->f, s->before, UINT64_MAX / d + 1);
        return strength_make(s, SSA_MULHU, false, strength_make(s, SSA_ZEXT32, false, x, 0), by);
    }
    /* m has 65 bits: it is 2^64 + low. So x * m / 2^64 is (x * low / 2^64) + x, which may have a
     * 65th bit. To avoid that, half of the difference of the two terms is added. */
    u128 above = u128_sub(u128_shl(u128_of(1), bits), u128_of(d));
    uint64_t low = u128_low(u128_div(u128_shl(above, 64), u128_of(d))) + 1;
    uint32_t high = strength_make(s, SSA_MULHU, false, x, ssa_const_before(s->f, s->before, low)),
             half = strength_shift(s, SSA_SHR, false, strength_make(s, SSA_SUB, false, x, high), 1);
    return strength_shift(s, SSA_SHR, false, strength_make(s, SSA_ADD, false, half, high),
                          bits - 1);
}

static uint32_t divide_signed(struct site *s, bool narrow, uint32_t x, int64_t divisor)
{
    unsigned width = narrow ? 32 : 64;
    uint64_t d = divisor < 0 ? 0 - (uint64_t)divisor : (uint64_t)divisor;
    unsigned bits = log_up(d);
    uint32_t quotient;
    /* The result must be rounded toward zero, so d - 1 is added to a negative x before the
     * shift. */
    if (is_power(d)) {
        uint32_t sign = strength_shift(s, SSA_SAR, narrow, x, width - 1),
                 more = strength_shift(s, SSA_SHR, narrow, sign, width - bits);
        quotient =
            strength_shift(s, SSA_SAR, narrow, strength_make(s, SSA_ADD, narrow, x, more), bits);
    } else if (narrow) {
        uint64_t m = (UINT64_C(1) << (31 + bits)) / d + 1;
        uint32_t wide = strength_make(s, SSA_SEXT32, false, x, 0),
                 product =
                     strength_make(s, SSA_MUL, false, wide, ssa_const_before(s->f, s->before, m)),
                 sign = strength_shift(s, SSA_SAR, false, wide, 63);
        quotient = strength_make(s, SSA_SUB, true,
                                 strength_shift(s, SSA_SAR, false, product, 31 + bits), sign);
    } else {
        /* m is between 2^63 and 2^64. As a signed number it is less by 2^64, so x is added to
         * the product. */
        uint64_t m = u128_low(u128_div(u128_shl(u128_of(1), 63 + bits), u128_of(d))) + 1;
        uint32_t high = strength_make(s, SSA_MULHS, false, x, ssa_const_before(s->f, s->before, m)),
                 sum = strength_make(s, SSA_ADD, false, high, x),
                 sign = strength_shift(s, SSA_SAR, false, x, 63);
        quotient = strength_make(s, SSA_SUB, false,
                                 strength_shift(s, SSA_SAR, false, sum, bits - 1), sign);
    }
    return divisor < 0
               ? strength_make(s, SSA_SUB, narrow, ssa_const_before(s->f, s->before, 0), quotient)
               : quotient;
}

static void strength_reduce(struct ssa_function *f, uint32_t value)
{
    struct ssa_insn in = f->insns[value];
    struct site s = {f, value};
    int64_t d;
    if (in.op < SSA_DIVS || in.op > SSA_REMU || !ssa_is_const(f, in.arg[1], &d)) return;
    bool is_signed = in.op == SSA_DIVS || in.op == SSA_REMS;
    if (in.narrow) d = is_signed ? (int32_t)d : (int64_t)(uint32_t)d;
    /* Divisions by 0, and signed ones by -1, do not occur. The least integer has no positive
     * counterpart, so it is left out. */
    if (!d || (is_signed && (d == -1 || d == INT64_MIN || (in.narrow && d == INT32_MIN)))) return;
    if (!is_signed && !in.narrow && d < 0 && !is_power((uint64_t)d)) return;
    uint32_t x = in.arg[0];
    uint32_t quotient = d == 1      ? x
                        : is_signed ? divide_signed(&s, in.narrow, x, d)
                                    : divide_unsigned(&s, in.narrow, x, (uint64_t)d);
    bool rest = in.op == SSA_REMS || in.op == SSA_REMU;
    uint32_t other = quotient;
    if (rest)
        other = strength_make(&s, SSA_MUL, in.narrow, quotient,
                              ssa_const_before(f, value, (uint64_t)d));
    uint32_t zero = rest ? 0 : ssa_const_before(f, value, 0);
    if (f->failed) return;
    /* The result is x - quotient * d, or the quotient itself, reduced to its width. */
    struct ssa_insn *now = &f->insns[value];
    now->op = rest ? SSA_SUB : SSA_ADD;
    now->arg[0] = rest ? x : quotient;
    now->arg[1] = rest ? other : zero;
}

void ssa_pass_strength(struct ssa_function *f)
{
    for (size_t b = 0; b < f->block_count; b++)
        for (uint32_t i = f->blocks[b].first; i && !f->failed; i = f->insns[i].next)
            strength_reduce(f, i);
}
