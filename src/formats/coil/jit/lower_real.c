/* Lowers operations on floats, and conversions between floats and integers. To choose between
 * two floats, the code works on their bits as integers. */
#include "coil/jit/jit.h"
#include "coil/vm/step/step.h"
#include <math.h>

static bool is_signed(uint8_t op) { return coil_types[op].family == COIL_F_SIGNED; }

static uint32_t lower_real_number(struct coil_lower *l, uint8_t type, double value)
{
    uint32_t bits = ssa_const(l->f, (int64_t)coil_real_bits(type, value));
    return ssa_op1(l->f, SSA_REAL, coil_ssa_type(type), bits);
}

static uint32_t bits_of(struct coil_lower *l, uint32_t value)
{
    return ssa_op1(l->f, SSA_BITS, SSA_INT, value);
}

static uint32_t of_bits(struct coil_lower *l, uint8_t type, uint32_t bits)
{
    return ssa_op1(l->f, SSA_REAL, coil_ssa_type(type), bits);
}

static uint32_t lower_real_op2(struct coil_lower *l, enum ssa_op op, uint8_t type, uint32_t a,
                               uint32_t b)
{
    return ssa_op2(l->f, op, coil_ssa_type(type), false, a, b);
}

static uint32_t lower_real_compare(struct coil_lower *l, enum ssa_cond cond, uint32_t a, uint32_t b)
{
    return ssa_compare(l->f, SSA_FSET, cond, false, a, b);
}

static uint32_t lower_real_choose(struct coil_lower *l, uint8_t type, uint32_t truth, uint32_t yes,
                                  uint32_t no)
{
    return of_bits(l, type, coil_lower_select(l, truth, bits_of(l, yes), bits_of(l, no)));
}

/* Makes a NaN quiet, because the interpreter does so: it computes with doubles, and converting
 * an FP32 to a double makes a NaN quiet. */
static uint32_t lower_real_quiet(struct coil_lower *l, uint8_t type, uint32_t a)
{
    return type == COIL_T_FP32 ? lower_real_op2(l, SSA_FMUL, type, a, lower_real_number(l, type, 1))
                               : a;
}

uint32_t coil_lower_to_real(struct coil_lower *l, uint32_t value, uint8_t from, uint8_t to)
{
    struct ssa_function *f = l->f;
    enum ssa_type t = coil_ssa_type(to);
    if (from != COIL_T_UNT64) return ssa_op1(f, SSA_FROMINT, t, value);
    /* Numbers from 2^63 on are halved, with the lost bit kept for the rounding, then converted
     * and doubled. */
    uint32_t one = ssa_const(f, 1),
             high = ssa_compare(f, SSA_SET, SSA_LT, false, value, ssa_const(f, 0)),
             low = ssa_op2(f, SSA_AND, SSA_INT, false, value, one),
             half = ssa_op2(f, SSA_SHR, SSA_INT, false, value, one),
             odd = ssa_op2(f, SSA_OR, SSA_INT, false, half, low),
             real = ssa_op1(f, SSA_FROMINT, t, coil_lower_select(l, high, odd, value));
    return lower_real_choose(l, to, high, lower_real_op2(l, SSA_FADD, to, real, real), real);
}

/* Converts a float to an integer, rounding toward zero. A float beyond the range of the integer
 * type gives the nearest bound, and a NaN gives 0. In all these cases the processor gives the
 * least 64-bit integer, so they are handled here. */
uint32_t coil_lower_from_real(struct coil_lower *l, uint32_t value, uint8_t from, uint8_t to)
{
    struct ssa_function *f = l->f;
    if (to == COIL_T_BIT)
        return lower_real_compare(l, SSA_NE, value, lower_real_number(l, from, 0));
    unsigned n = 8u * coil_types[to].bytes - is_signed(to);
    uint32_t most = ssa_const(f, (int64_t)(UINT64_MAX >> (64 - n))), zero = ssa_const(f, 0),
             above =
                 lower_real_compare(l, SSA_GE, value, lower_real_number(l, from, ldexp(1, (int)n))),
             r = ssa_op1(f, SSA_TOINT, SSA_INT, value);
    if (to == COIL_T_UNT64) {
        uint32_t half = lower_real_number(l, from, 0x1p63),
                 high = lower_real_compare(l, SSA_GE, value, half),
                 rest =
                     ssa_op1(f, SSA_TOINT, SSA_INT, lower_real_op2(l, SSA_FSUB, from, value, half)),
                 least = ssa_const(f, INT64_MIN);
        uint32_t below = ssa_compare(f, SSA_SET, SSA_LT, false, r, zero);
        r = coil_lower_select(l, below, zero, r);
        rest = ssa_op2(f, SSA_XOR, SSA_INT, false, rest, least);
        r = coil_lower_select(l, high, rest, r);
    } else if (n < 63) {
        uint32_t least = is_signed(to) ? ssa_const(f, -(INT64_C(1) << n)) : zero,
                 below = ssa_compare(f, SSA_SET, SSA_LT, false, r, least);
        r = coil_lower_select(l, below, least, r);
    }
    r = coil_lower_select(l, above, most, r);
    return is_signed(to)
               ? coil_lower_select(l, lower_real_compare(l, SSA_EQ, value, value), r, zero)
               : r;
}

/* Returns the smaller or larger of two floats. If one is a NaN, the result is the other one; if
 * they are equal, it is the first. */
static uint32_t lower_real_pick(struct coil_lower *l, uint8_t type, bool larger, uint32_t a,
                                uint32_t b)
{
    uint32_t better = lower_real_compare(l, larger ? SSA_GT : SSA_LT, b, a),
             none = lower_real_compare(l, SSA_NE, a, a),
             other = ssa_op2(l->f, SSA_OR, SSA_INT, false, better, none);
    return lower_real_choose(l, type, other, b, a);
}

/* Rounds a float to a whole number: CEIL and FLOR convert it to an integer and back, and ROND
 * adds 2^52, which leaves no fraction. Larger floats have no fraction already. */
static uint32_t lower_real_whole(struct coil_lower *l, uint8_t opcode, uint32_t a)
{
    struct ssa_function *f = l->f;
    const uint8_t type = COIL_T_FP64;
    uint32_t bits = bits_of(l, a), big = lower_real_number(l, type, 0x1p52),
             sign = ssa_op2(f, SSA_AND, SSA_INT, false, bits, ssa_const(f, INT64_MIN)),
             size = ssa_op2(f, SSA_AND, SSA_INT, false, bits, ssa_const(f, INT64_MAX)),
             magnitude = of_bits(l, type, size), r;
    if (opcode == COIL_OP_ROND) {
        r = lower_real_op2(l, SSA_FSUB, type, lower_real_op2(l, SSA_FADD, type, magnitude, big),
                           big);
    } else {
        bool up = opcode == COIL_OP_CEIL;
        r = ssa_op1(f, SSA_FROMINT, SSA_F64, ssa_op1(f, SSA_TOINT, SSA_INT, a));
        uint32_t passed = lower_real_compare(l, up ? SSA_LT : SSA_GT, r, a);
        r = lower_real_op2(l, up ? SSA_FADD : SSA_FSUB, type, r,
                           ssa_op1(f, SSA_FROMINT, SSA_F64, passed));
    }
    uint32_t signed_bits = ssa_op2(f, SSA_OR, SSA_INT, false, bits_of(l, r), sign),
             same = bits_of(l, lower_real_op2(l, SSA_FADD, type, a, lower_real_number(l, type, 0)));
    uint32_t small = lower_real_compare(l, SSA_LT, magnitude, big);
    return of_bits(l, type, coil_lower_select(l, small, signed_bits, same));
}

static uint32_t lower_real_rounded(struct coil_lower *l, uint8_t opcode, uint8_t type, uint32_t a)
{
    if (type == COIL_T_FP64) return lower_real_whole(l, opcode, a);
    uint32_t wide = ssa_op1(l->f, SSA_FWIDEN, SSA_F64, a);
    return ssa_op1(l->f, SSA_FNARROW, SSA_F32, lower_real_whole(l, opcode, wide));
}

/* Inverts the sign bit of a float, or clears it. */
static uint32_t lower_real_resigned(struct coil_lower *l, uint8_t type, bool clears, uint32_t a)
{
    int64_t sign = type == COIL_T_FP32 ? INT64_C(1) << 31 : INT64_MIN;
    uint32_t bits = bits_of(l, lower_real_quiet(l, type, a));
    bits = ssa_op2(l->f, clears ? SSA_AND : SSA_XOR, SSA_INT, false, bits,
                   ssa_const(l->f, clears ? ~sign : sign));
    return of_bits(l, type, bits);
}

uint32_t coil_lower_real(struct coil_lower *l, const struct coil_step *s, uint8_t type,
                         const uint32_t v[3])
{
    uint32_t a = v[0], b = v[1];
    switch (s->opcode) {
    case COIL_OP_ADD: return lower_real_op2(l, SSA_FADD, type, a, b);
    case COIL_OP_SUB: return lower_real_op2(l, SSA_FSUB, type, a, b);
    case COIL_OP_MUL: return lower_real_op2(l, SSA_FMUL, type, a, b);
    case COIL_OP_DIV: return lower_real_op2(l, SSA_FDIV, type, a, b);
    case COIL_OP_INC: return lower_real_op2(l, SSA_FADD, type, a, lower_real_number(l, type, 1));
    case COIL_OP_DEC: return lower_real_op2(l, SSA_FSUB, type, a, lower_real_number(l, type, 1));
    case COIL_OP_NEG: return lower_real_resigned(l, type, false, a);
    case COIL_OP_ABS: return lower_real_resigned(l, type, true, a);
    case COIL_OP_SQRT: return ssa_op1(l->f, SSA_FSQRT, coil_ssa_type(type), a);
    case COIL_OP_CEIL:
    case COIL_OP_FLOR:
    case COIL_OP_ROND: return lower_real_rounded(l, s->opcode, type, a);
    case COIL_OP_MIN: return lower_real_quiet(l, type, lower_real_pick(l, type, false, a, b));
    case COIL_OP_MAX: return lower_real_quiet(l, type, lower_real_pick(l, type, true, a, b));
    case COIL_OP_CLAMP:
        return lower_real_quiet(
            l, type, lower_real_pick(l, type, false, lower_real_pick(l, type, true, a, b), v[2]));
    default: return 0;
    }
}
