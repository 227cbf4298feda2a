/* Implements the operations on scalars that ops.h declares: conversions, integers, floats, flags
 * and conditions. Sums, products and quotients of integers are computed exactly in 128 bits
 * (base/u128.h), so that carry and overflow follow from the exact result. */
#include "coil/scalars/ops.h"
#include "coil/scalars/shifts.h"
#include <math.h>
#include "base/u128.h"

static unsigned bits_of(uint8_t op) { return 8u * coil_types[op].bytes; }
static bool is_signed(uint8_t op) { return coil_types[op].family == COIL_F_SIGNED; }
static bool is_real(uint8_t op) { return coil_types[op].family == COIL_F_REAL; }
static uint64_t mask_of(uint8_t op)
{
    return bits_of(op) == 64 ? UINT64_MAX : (UINT64_C(1) << bits_of(op)) - 1;
}

/* The functions below return signed 128-bit numbers, in which sums and products of 64-bit
 * numbers are exact. */
static u128 least_of(uint8_t op)
{
    return is_signed(op) ? u128_negate(u128_shl(u128_of(1), bits_of(op) - 1)) : u128_of(0);
}
static u128 most_of(uint8_t op)
{
    if (op == COIL_T_BIT) return u128_of(1);
    return u128_sub(u128_shl(u128_of(1), bits_of(op) - is_signed(op)), u128_of(1));
}
static u128 exact_of(uint8_t op, uint64_t v)
{
    return is_signed(op) ? u128_signed((int64_t)v) : u128_of(v);
}

static uint64_t real_to_int(double v, uint8_t to)
{
    if (isnan(v)) return 0;
    double least = is_signed(to) ? -ldexp(1, (int)bits_of(to) - 1) : 0,
           above = ldexp(1, (int)(bits_of(to) - is_signed(to)));
    if (v <= least) return coil_canon(to, u128_low(least_of(to)));
    if (v >= above) return coil_canon(to, u128_low(most_of(to)));
    return is_signed(to) ? coil_canon(to, (uint64_t)(int64_t)v) : coil_canon(to, (uint64_t)v);
}

static uint64_t int_to_real(uint64_t v, uint8_t from, uint8_t to)
{
    /* The integer must be rounded only once, so it is converted directly to FP32. */
    if (to == COIL_T_FP32)
        return coil_real_bits(to, (double)(is_signed(from) ? (float)(int64_t)v : (float)v));
    return coil_real_bits(to, is_signed(from) ? (double)(int64_t)v : (double)v);
}

static uint64_t ops_clamp(u128 v, uint8_t to, bool *changed)
{
    u128 low = least_of(to), high = most_of(to);
    u128 r = u128_less_signed(v, low) ? low : u128_less_signed(high, v) ? high : v;
    *changed = !u128_equal(r, v);
    return coil_canon(to, u128_low(r));
}

uint64_t coil_convert_bits(uint64_t v, uint8_t from, uint8_t to, bool saturate)
{
    bool changed;
    if (from == to) return to == COIL_T_BIT ? v != 0 : v;
    if (is_real(from)) {
        double r = coil_real(from, v);
        if (is_real(to)) return coil_real_bits(to, r);
        return to == COIL_T_BIT ? r != 0 : real_to_int(r, to);
    }
    if (is_real(to)) return int_to_real(v, from, to);
    if (to == COIL_T_BIT) return v != 0;
    return saturate ? ops_clamp(exact_of(from, v), to, &changed) : coil_canon(to, v);
}

uint8_t coil_common(uint8_t a, uint8_t b)
{
    if (a == COIL_T_BIT) a = COIL_T_UNT8;
    if (b == COIL_T_BIT) b = COIL_T_UNT8;
    if (is_real(a) || is_real(b))
        return a == COIL_T_FP64 || b == COIL_T_FP64 ? COIL_T_FP64 : COIL_T_FP32;
    if (bits_of(a) != bits_of(b)) return bits_of(a) > bits_of(b) ? a : b;
    return is_signed(a) ? b : a;
}

static uint8_t result_flags(uint8_t op, uint64_t r)
{
    uint64_t bits = r & mask_of(op);
    return (uint8_t)((bits ? 0 : COIL_Z) | (is_signed(op) && (int64_t)r < 0 ? COIL_S : 0) |
                     (__builtin_parityll(bits) ? 0 : COIL_P));
}

static uint8_t ops_bit(bool on, uint8_t flag) { return on ? flag : 0; }

struct sum {
    u128 exact;
    bool carry;
};

static struct sum ops_add(const struct coil_operation *o, uint64_t b, bool carry)
{
    uint64_t mask = mask_of(o->type);
    u128 bits = u128_add(u128_add(u128_of(o->a & mask), u128_of(b & mask)), u128_of(carry));
    u128 exact = u128_add(exact_of(o->type, o->a), exact_of(o->type, b));
    return (struct sum){u128_add(exact, u128_of(carry)), u128_less(u128_of(mask), bits)};
}

static struct sum ops_subtract(uint8_t type, uint64_t a, uint64_t b, bool borrow)
{
    uint64_t mask = mask_of(type);
    u128 exact = u128_sub(exact_of(type, a), exact_of(type, b));
    u128 taken = u128_add(u128_of(b & mask), u128_of(borrow));
    return (struct sum){u128_sub(exact, u128_of(borrow)), u128_less(u128_of(a & mask), taken)};
}

/* Wraps the exact result, or limits it to the range of the type. Flag V tells that the type
 * cannot represent the exact result. */
static void ops_deliver(struct coil_operation *o, u128 exact, uint8_t extra)
{
    uint8_t type = o->type;
    bool lost;
    if (o->saturate >= 0) {
        type = (uint8_t)o->saturate;
        o->result = ops_clamp(exact, type, &lost);
        o->in_destination = true;
    } else {
        o->result = coil_canon(type, u128_low(exact));
        lost = !u128_equal(exact_of(type, o->result), exact);
    }
    o->flags = (uint8_t)(result_flags(type, o->result) | extra | ops_bit(lost, COIL_V));
}

static void ops_multiply(struct coil_operation *o)
{
    if (is_signed(o->type)) {
        u128 exact = u128_mul(exact_of(o->type, o->a), exact_of(o->type, o->b));
        bool lost =
            u128_less_signed(exact, least_of(o->type)) || u128_less_signed(most_of(o->type), exact);
        ops_deliver(o, exact, ops_bit(lost, COIL_C));
        return;
    }
    u128 exact = u128_product(o->a, o->b);
    bool lost = u128_less(most_of(o->type), exact);
    /* For numbers above 2^127 it matters only that they are too large for the type. */
    u128 seen = u128_high(exact) >> 62 ? u128_join(UINT64_C(1) << 62, u128_low(exact)) : exact;
    ops_deliver(o, seen, ops_bit(lost, COIL_C));
}

static uint64_t high_half(uint8_t type, uint64_t a, uint64_t b)
{
    unsigned n = bits_of(type);
    if (is_signed(type))
        return coil_canon(type,
                          u128_low(u128_sar(u128_mul(exact_of(type, a), exact_of(type, b)), n)));
    return coil_canon(type, u128_low(u128_shr(u128_product(a, b), n)));
}

static void ops_divide(struct coil_operation *o)
{
    u128 a = exact_of(o->type, o->a), b = exact_of(o->type, o->b);
    if (u128_is_zero(b)) {
        o->second = 0;
        ops_deliver(o, b, COIL_D);
        return;
    }
    o->second = coil_canon(o->type, u128_low(u128_mod_signed(a, b)));
    ops_deliver(o, o->opcode == COIL_OP_MOD ? u128_mod_signed(a, b) : u128_div_signed(a, b), 0);
}

static uint64_t int_sqrt(uint64_t v)
{
    uint64_t r = (uint64_t)sqrt((double)v);
    while (r && u128_less(u128_of(v), u128_product(r, r))) r--;
    while (!u128_less(u128_of(v), u128_product(r + 1, r + 1))) r++;
    return r;
}

DEFINE_SHIFT(ops_shifted, uint64_t, u64)

static void ops_shift(struct coil_operation *o)
{
    unsigned n = bits_of(o->type);
    uint64_t v = o->a & mask_of(o->type);
    bool carry, left = o->opcode == COIL_OP_SHL || o->opcode == COIL_OP_SAL;
    uint64_t r = ops_shifted(o->opcode, v, n, o->b, (unsigned)(o->b % n), &carry);
    o->result = coil_canon(o->type, r);
    o->flags = (uint8_t)(result_flags(o->type, o->result) | ops_bit(carry, COIL_C) |
                         ops_bit(left && o->b && (r ^ v) >> (n - 1) & 1, COIL_V));
}

static uint64_t swap_bytes(uint8_t type, uint64_t v)
{
    return coil_canon(type, __builtin_bswap64(v) >> (64 - bits_of(type)));
}

static void bit_number(struct coil_operation *o)
{
    uint64_t one = UINT64_C(1) << o->b % bits_of(o->type);
    bool was = o->a & one;
    uint64_t r = o->opcode == COIL_OP_BITSET   ? o->a | one
                 : o->opcode == COIL_OP_BITCLR ? o->a & ~one
                                               : o->a ^ one;
    if (o->opcode == COIL_OP_BITCHK) {
        o->result = was;
        o->flags = (uint8_t)(ops_bit(!was, COIL_Z) | ops_bit(was, COIL_C));
        return;
    }
    o->result = coil_canon(o->type, r);
    o->flags = (uint8_t)(result_flags(o->type, o->result) | ops_bit(was, COIL_C));
}

static void ops_plain(struct coil_operation *o, uint64_t r)
{
    o->result = coil_canon(o->type, r);
    o->flags = result_flags(o->type, o->result);
}

static void operate_int(struct coil_operation *o)
{
    uint8_t type = o->type;
    struct sum sum;
    u128 a = exact_of(type, o->a), b = exact_of(type, o->b);
    switch (o->opcode) {
    case COIL_OP_ADD:
    case COIL_OP_ADDC:
    case COIL_OP_INC:
        sum =
            ops_add(o, o->opcode == COIL_OP_INC ? 1 : o->b, o->opcode == COIL_OP_ADDC && o->carry);
        ops_deliver(o, sum.exact, ops_bit(sum.carry, COIL_C));
        break;
    case COIL_OP_CMP:
    case COIL_OP_SUB:
    case COIL_OP_SUBB:
    case COIL_OP_DEC:
        sum = ops_subtract(type, o->a, o->opcode == COIL_OP_DEC ? 1 : o->b,
                           o->opcode == COIL_OP_SUBB && o->carry);
        ops_deliver(o, sum.exact, ops_bit(sum.carry, COIL_C));
        break;
    case COIL_OP_NEG:
        sum = ops_subtract(type, 0, o->a, false);
        ops_deliver(o, sum.exact, ops_bit(o->a != 0, COIL_C));
        break;
    case COIL_OP_MUL: ops_multiply(o); break;
    case COIL_OP_DIV:
    case COIL_OP_MOD:
    case COIL_OP_DIVMOD: ops_divide(o); break;
    case COIL_OP_ABS: ops_deliver(o, u128_is_negative(a) ? u128_negate(a) : a, 0); break;
    case COIL_OP_SQRT:
        ops_plain(o, u128_is_negative(a) ? 0 : int_sqrt(u128_low(a)));
        o->flags |= ops_bit(u128_is_negative(a), COIL_N);
        break;
    case COIL_OP_CEIL:
    case COIL_OP_FLOR:
    case COIL_OP_ROND: ops_plain(o, o->a); break;
    case COIL_OP_MIN: o->result = u128_less_signed(a, b) ? o->a : o->b; break;
    case COIL_OP_MAX: o->result = u128_less_signed(b, a) ? o->a : o->b; break;
    case COIL_OP_CLAMP: {
        u128 high = exact_of(type, o->c), r = u128_less_signed(a, b) ? b : a;
        o->result = u128_low(u128_less_signed(high, r) ? high : r);
        break;
    }
    case COIL_OP_FMA: o->result = coil_canon(type, o->a * o->b + o->c); break;
    case COIL_OP_MULH: o->result = high_half(type, o->a, o->b); break;
    case COIL_OP_TEST:
    case COIL_OP_AND: ops_plain(o, o->a & o->b); break;
    case COIL_OP_OR: ops_plain(o, o->a | o->b); break;
    case COIL_OP_XOR: ops_plain(o, o->a ^ o->b); break;
    case COIL_OP_NOT: ops_plain(o, ~o->a); break;
    case COIL_OP_BSWAP: ops_plain(o, swap_bytes(type, o->a)); break;
    case COIL_OP_POPCNT: ops_plain(o, (uint64_t)__builtin_popcountll(o->a & mask_of(type))); break;
    case COIL_OP_BITSET:
    case COIL_OP_BITCLR:
    case COIL_OP_BITTGL:
    case COIL_OP_BITCHK: bit_number(o); break;
    default: ops_shift(o);
    }
}

/* Operations on floats are computed in the type of the operation and rounded once. */

static double ops_narrow(uint8_t type, double v)
{
    return type == COIL_T_FP32 ? (double)(float)v : v;
}

/* Returns the result of an operation whose computed result r is a NaN. NEG, ABS, MIN, MAX and
 * CLAMP only choose a NaN, or change its sign. */
static double ops_nan(uint8_t opcode, double r, double a, double b, double c)
{
    switch (opcode) {
    case COIL_OP_NEG:
    case COIL_OP_ABS:
    case COIL_OP_MIN:
    case COIL_OP_MAX:
    case COIL_OP_CLAMP: return r;
    case COIL_OP_FMA: return coil_nan_of(a, isnan(b) ? b : c);
    default: return coil_nan_of(a, b);
    }
}

static void operate_real(struct coil_operation *o)
{
    uint8_t type = o->type;
    double a = coil_real(type, o->a), b = coil_real(type, o->b), c = coil_real(type, o->c), r = 0;
    bool finite = isfinite(a) && isfinite(b), zero = false;
    switch (o->opcode) {
    case COIL_OP_ADD: r = a + b; break;
    /* Adding 0 for a missing carry would turn -0.0 into 0.0. */
    case COIL_OP_ADDC: r = o->carry ? a + b + 1 : a + b; break;
    case COIL_OP_SUB: r = a - b; break;
    case COIL_OP_SUBB: r = o->carry ? a - b - 1 : a - b; break;
    case COIL_OP_MUL: r = a * b; break;
    case COIL_OP_INC: r = a + 1; break;
    case COIL_OP_DEC: r = a - 1; break;
    case COIL_OP_DIV:
    case COIL_OP_DIVMOD:
    case COIL_OP_MOD:
        zero = b == 0;
        r = o->opcode == COIL_OP_MOD ? fmod(a, b) : a / b;
        if (o->opcode == COIL_OP_DIVMOD) {
            r = trunc(r);
            double rest = fmod(a, b);
            o->second = coil_real_bits(type, isnan(rest) ? coil_nan_of(a, b) : rest);
        }
        break;
    case COIL_OP_NEG: r = -a; break;
    case COIL_OP_ABS: r = fabs(a); break;
    case COIL_OP_SQRT: r = sqrt(a); break;
    case COIL_OP_CEIL: r = ceil(a); break;
    case COIL_OP_FLOR: r = floor(a); break;
    case COIL_OP_ROND: r = nearbyint(a); break;
    case COIL_OP_MIN: r = isnan(a) ? b : isnan(b) ? a : b < a ? b : a; break;
    case COIL_OP_MAX: r = isnan(a) ? b : isnan(b) ? a : b > a ? b : a; break;
    case COIL_OP_CLAMP:
        r = isnan(a) ? b : isnan(b) ? a : b > a ? b : a;
        r = isnan(r) ? c : isnan(c) ? r : c < r ? c : r;
        break;
    case COIL_OP_FMA:
        r = type == COIL_T_FP32 ? (double)fmaf((float)a, (float)b, (float)c) : fma(a, b, c);
        break;
    default: /* The opcode is CMP here. */
        o->flags = (uint8_t)(ops_bit(a == b, COIL_Z) | ops_bit(a < b, COIL_S | COIL_C) |
                             ops_bit(isnan(a) || isnan(b), COIL_N));
        return;
    }
    _Static_assert(COIL_OP_ROND - COIL_OP_INC == 7, "INC DEC NEG ABS SQRT CEIL FLOR ROND");
    bool unary = o->opcode >= COIL_OP_INC && o->opcode <= COIL_OP_ROND;
    r = isnan(r) ? ops_nan(o->opcode, r, a, unary ? a : b, c) : ops_narrow(type, r);
    if (unary) finite = isfinite(a);
    bool overflow = finite && isinf(r) && !zero;
    o->result = coil_real_bits(type, r);
    o->flags =
        (uint8_t)(ops_bit(r == 0, COIL_Z) | ops_bit(r < 0, COIL_S) | ops_bit(overflow, COIL_V) |
                  ops_bit(isnan(r), COIL_N) | ops_bit(zero, COIL_D));
}

void coil_operate(struct coil_operation *o)
{
    const struct coil_op_info *op = &coil_ops[o->opcode];
    bool real = is_real(o->type);
    o->in_destination = false;
    o->flags = 0;
    (real ? operate_real : operate_int)(o);
    /* Of the operations on reals, only the comparison sets the carry, and none sets the parity. */
    uint8_t without = real && o->opcode != COIL_OP_CMP ? COIL_C | COIL_P : 0;
    o->written = op->writes & (uint8_t)~without;
    o->flags &= o->written & (uint8_t)~op->clears;
}

bool coil_condition(uint8_t condition, uint8_t f)
{
    bool z = f & COIL_Z, s = f & COIL_S, v = f & COIL_V, n = f & COIL_N;
    bool truth;
    _Static_assert(COIL_IF_EQ == 0 && COIL_IF_NEQ == 1 && COIL_IF_NP % 2 == 1, "opposites are odd");
    switch (condition & ~1) {
    case COIL_IF_EQ:
    case COIL_IF_Z: truth = z; break;
    case COIL_IF_GT: return condition == COIL_IF_GT ? !n && !z && s == v : !n && (z || s == v);
    case COIL_IF_LT: return condition == COIL_IF_LT ? !n && s != v : !n && (z || s != v);
    case COIL_IF_O: truth = v; break;
    case COIL_IF_S: truth = s; break;
    case COIL_IF_C: truth = f & COIL_C; break;
    case COIL_IF_D: truth = f & COIL_D; break;
    case COIL_IF_N: truth = n; break;
    default: truth = f & COIL_P; break;
    }
    return condition & 1 ? !truth : truth;
}
