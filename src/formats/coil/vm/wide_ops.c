/* Implements the operations that wide_ops.h declares, on integers of any width up to 128 bits.
 * Sums and products are computed exactly as sign and magnitude, so that carry, overflow and
 * clamping follow from the exact result. */
#include "coil/vm/wide_ops.h"
#include "coil/scalars/shifts.h"
#include <math.h>

struct coil_width coil_width_of(const struct coil_type *t)
{
    if (coil_is_wide(t)) return (struct coil_width){(uint8_t)t->dims[0], t->op == COIL_T_CINT};
    return (struct coil_width){(uint8_t)(8 * coil_types[t->op].bytes),
                               coil_types[t->op].family == COIL_F_SIGNED};
}

static u128 mask_of(struct coil_width w) { return u128_shr(u128_not(u128_of(0)), 128u - w.bits); }

u128 coil_extend(struct coil_width w, u128 value)
{
    unsigned shift = 128u - w.bits;
    value = u128_shl(value, shift);
    return w.is_signed ? u128_sar(value, shift) : u128_shr(value, shift);
}

static u128 most_of(struct coil_width w) { return u128_shr(mask_of(w), w.is_signed); }
static u128 least_of(struct coil_width w)
{
    return w.is_signed ? coil_extend(w, u128_add(most_of(w), u128_of(1))) : u128_of(0);
}

/* A sum of two 128-bit numbers may need more bits, so results are kept as sign and magnitude. */

struct exact {
    bool negative, huge; /* huge: the magnitude is 2^128 or more, and only the sign matters */
    u128 magnitude;
};

static struct exact exact_of(struct coil_width w, u128 v)
{
    bool negative = w.is_signed && u128_is_negative(v);
    return (struct exact){negative, false, negative ? u128_negate(v) : v};
}

static u128 value_of(struct exact e) { return e.negative ? u128_negate(e.magnitude) : e.magnitude; }

static struct exact wide_ops_opposite(struct exact e)
{
    e.negative = !e.negative && (!u128_is_zero(e.magnitude) || e.huge);
    return e;
}

static struct exact exact_add(struct exact a, struct exact b)
{
    if (a.negative == b.negative) {
        u128 sum = u128_add(a.magnitude, b.magnitude);
        bool huge = a.huge || b.huge || u128_less(sum, a.magnitude);
        return (struct exact){a.negative, huge, sum};
    }
    if (a.huge) return a;
    if (u128_less(a.magnitude, b.magnitude))
        return (struct exact){b.negative, false, u128_sub(b.magnitude, a.magnitude)};
    u128 rest = u128_sub(a.magnitude, b.magnitude);
    return (struct exact){!u128_is_zero(rest) && a.negative, false, rest};
}

static struct exact exact_multiply(struct exact a, struct exact b)
{
    bool huge = !u128_is_zero(a.magnitude) &&
                u128_less(u128_div(u128_not(u128_of(0)), a.magnitude), b.magnitude);
    u128 product = u128_mul(a.magnitude, b.magnitude);
    bool negative = a.negative != b.negative && (!u128_is_zero(product) || huge);
    return (struct exact){negative, huge, product};
}

static bool wide_ops_fits(struct exact e, struct coil_width w)
{
    u128 most = most_of(w);
    if (e.huge) return false;
    if (e.negative) return w.is_signed && !u128_less(u128_add(most, u128_of(1)), e.magnitude);
    return !u128_less(most, e.magnitude);
}

static u128 wide_ops_clamp(struct exact e, struct coil_width w, bool *changed)
{
    *changed = !wide_ops_fits(e, w);
    if (*changed) return !e.negative ? most_of(w) : least_of(w);
    return value_of(e);
}

static bool is_real(uint8_t op) { return coil_types[op].family == COIL_F_REAL; }

static u128 real_to_int(double v, struct coil_width w)
{
    if (isnan(v)) return u128_of(0);
    if (v >= ldexp(1, w.bits - w.is_signed)) return most_of(w);
    if (v >= 0) return u128_of_real(v);
    if (!w.is_signed || v <= -ldexp(1, w.bits - 1)) return least_of(w);
    return u128_negate(u128_of_real(-v));
}

static uint64_t int_to_real(struct coil_number n, uint8_t to)
{
    struct exact e = exact_of(n.width, n.value);
    double v = to == COIL_T_FP32 ? (double)u128_real32(e.magnitude) : u128_real(e.magnitude);
    return coil_real_bits(to, e.negative ? -v : v); /* The function u128_real rounds only once. */
}

struct coil_number coil_number_convert(struct coil_number n, uint8_t to, struct coil_width width,
                                       bool saturate)
{
    struct coil_number out = {.op = to, .width = width};
    bool changed;
    if (is_real(n.op)) {
        double r = coil_real(n.op, u128_low(n.value));
        out.value = is_real(to)        ? u128_of(coil_real_bits(to, r))
                    : to == COIL_T_BIT ? u128_of(r != 0)
                                       : real_to_int(r, width);
    } else if (is_real(to)) {
        out.value = u128_of(int_to_real(n, to));
    } else if (to == COIL_T_BIT) {
        out.value = u128_of(!u128_is_zero(n.value));
    } else {
        out.value = saturate ? wide_ops_clamp(exact_of(n.width, n.value), width, &changed)
                             : coil_extend(width, n.value);
    }
    return out;
}

struct coil_number coil_number_common(struct coil_number a, struct coil_number b)
{
    struct coil_number wider = a.width.bits >= b.width.bits ? a : b;
    if (is_real(a.op) || is_real(b.op)) {
        bool twice = a.op == COIL_T_FP64 || b.op == COIL_T_FP64;
        return (struct coil_number){.op = twice ? COIL_T_FP64 : COIL_T_FP32};
    }
    if (a.width.bits == b.width.bits) wider = a.width.is_signed ? b : a;
    if (wider.op == COIL_T_BIT) wider.op = COIL_T_UNT8;
    return (struct coil_number){.op = wider.op, .width = wider.width};
}

static uint8_t wide_ops_bit(bool on, uint8_t flag) { return on ? flag : 0; }

static uint8_t result_flags(struct coil_width w, u128 r)
{
    u128 bits = u128_and(r, mask_of(w));
    bool odd = __builtin_parityll(u128_low(bits)) ^ __builtin_parityll(u128_high(bits));
    return (uint8_t)(wide_ops_bit(u128_is_zero(bits), COIL_Z) |
                     wide_ops_bit(w.is_signed && u128_is_negative(r), COIL_S) |
                     wide_ops_bit(!odd, COIL_P));
}

/* Wraps the result, or limits it to the range of the type. Flag V tells that the type cannot
 * represent the exact result. */
static void wide_ops_deliver(struct coil_wide_operation *o, struct exact e, uint8_t extra)
{
    struct coil_width w = o->to ? *o->to : o->type;
    bool lost;
    if (o->to) {
        o->result = wide_ops_clamp(e, w, &lost);
        o->in_destination = true;
    } else {
        lost = !wide_ops_fits(e, w);
        o->result = coil_extend(w, value_of(e));
    }
    o->flags = (uint8_t)(result_flags(w, o->result) | extra | wide_ops_bit(lost, COIL_V));
}

static void wide_ops_plain(struct coil_wide_operation *o, u128 r)
{
    o->result = coil_extend(o->type, r);
    o->flags = result_flags(o->type, o->result);
}

static void wide_ops_add(struct coil_wide_operation *o, u128 b, bool carry)
{
    u128 mask = mask_of(o->type), x = u128_and(o->a, mask), y = u128_and(b, mask);
    u128 sum = u128_add(u128_add(x, y), u128_of(carry));
    bool over = o->type.bits == 128 ? u128_less(sum, x) || (carry && u128_equal(sum, x))
                                    : u128_less(mask, sum);
    struct exact one = {.magnitude = u128_of(carry)};
    wide_ops_deliver(o, exact_add(exact_add(exact_of(o->type, o->a), exact_of(o->type, b)), one),
                     wide_ops_bit(over, COIL_C));
}

static void wide_ops_subtract(struct coil_wide_operation *o, u128 a, u128 b, bool borrow)
{
    u128 mask = mask_of(o->type), x = u128_and(a, mask), y = u128_and(b, mask);
    struct exact one = {.magnitude = u128_of(borrow)};
    wide_ops_deliver(
        o,
        exact_add(exact_add(exact_of(o->type, a), wide_ops_opposite(exact_of(o->type, b))),
                  wide_ops_opposite(one)),
        wide_ops_bit(u128_less(x, y) || (borrow && u128_equal(x, y)), COIL_C));
}

static void wide_ops_multiply(struct coil_wide_operation *o)
{
    struct exact e = exact_multiply(exact_of(o->type, o->a), exact_of(o->type, o->b));
    wide_ops_deliver(o, e, wide_ops_bit(!wide_ops_fits(e, o->type), COIL_C));
}

/* Returns the upper half of the product of two numbers of n bits, from four products of 64 by 64
 * bits. */
static u128 high_half(struct coil_width w, u128 a, u128 b)
{
    struct exact x = exact_of(w, a), y = exact_of(w, b);
    uint64_t xl = u128_low(x.magnitude), xh = u128_high(x.magnitude);
    uint64_t yl = u128_low(y.magnitude), yh = u128_high(y.magnitude);
    u128 ll = u128_product(xl, yl), lh = u128_product(xl, yh), hl = u128_product(xh, yl);
    u128 middle = u128_add(u128_of(u128_high(ll)), u128_of(u128_low(lh)));
    middle = u128_add(middle, u128_of(u128_low(hl)));
    u128 low = u128_join(u128_low(middle), u128_low(ll));
    u128 high = u128_add(u128_product(xh, yh), u128_of(u128_high(lh)));
    high = u128_add(high, u128_of(u128_high(hl)));
    high = u128_add(high, u128_of(u128_high(middle)));
    if (x.negative != y.negative) {
        low = u128_negate(low);
        high = u128_add(u128_not(high), u128_of(u128_is_zero(low)));
    }
    if (w.bits == 128) return high;
    return coil_extend(w, u128_or(u128_shr(low, w.bits), u128_shl(high, 128u - w.bits)));
}

static void wide_ops_divide(struct coil_wide_operation *o)
{
    struct exact a = exact_of(o->type, o->a), b = exact_of(o->type, o->b);
    if (u128_is_zero(b.magnitude)) {
        o->second = u128_of(0);
        wide_ops_deliver(o, b, COIL_D);
        return;
    }
    struct exact quotient = {.magnitude = u128_div(a.magnitude, b.magnitude)};
    struct exact rest = {.magnitude = u128_mod(a.magnitude, b.magnitude)};
    quotient.negative = !u128_is_zero(quotient.magnitude) && a.negative != b.negative;
    rest.negative = !u128_is_zero(rest.magnitude) && a.negative;
    o->second = coil_extend(o->type, value_of(rest));
    if (o->opcode == COIL_OP_MOD) o->to = NULL;
    wide_ops_deliver(o, o->opcode == COIL_OP_MOD ? rest : quotient, 0);
}

static u128 wide_ops_root(u128 v)
{
    u128 r = u128_of(0);
    for (unsigned at = 128; at > 0;) {
        u128 step = u128_shl(u128_of(1), at -= 2), taken = u128_add(r, step);
        bool over = !u128_less(v, taken);
        if (over) v = u128_sub(v, taken);
        r = u128_shr(r, 1);
        if (over) r = u128_add(r, step);
    }
    return r;
}

DEFINE_SHIFT(wide_ops_shifted, u128, u128)

static void wide_ops_shift(struct coil_wide_operation *o)
{
    unsigned n = o->type.bits;
    u128 v = u128_and(o->a, mask_of(o->type));
    /* No width is larger than 255. */
    uint64_t count = u128_less(u128_of(255), o->b) ? 255 : u128_low(o->b);
    bool carry, left = o->opcode == COIL_OP_SHL || o->opcode == COIL_OP_SAL;
    u128 r = wide_ops_shifted(o->opcode, v, n, count,
                              (unsigned)u128_low(u128_mod(o->b, u128_of(n))), &carry);
    wide_ops_plain(o, r);
    o->flags |= (uint8_t)(wide_ops_bit(carry, COIL_C) |
                          wide_ops_bit(left && count && u128_bit(u128_xor(r, v), n - 1), COIL_V));
}

/* Reverses the bytes of the value. If the width is not a multiple of 8, the byte that comes
 * first in the result has fewer bits. */
static u128 swap_bytes(struct coil_width w, u128 v)
{
    u128 r = u128_of(0), in = u128_and(v, mask_of(w));
    for (unsigned i = 0; i < (w.bits + 7u) / 8; i++, in = u128_shr(in, 8))
        r = u128_or(u128_shl(r, 8), u128_of((uint8_t)u128_low(in)));
    return r;
}

static void bit_number(struct coil_wide_operation *o)
{
    unsigned at = (unsigned)u128_low(u128_mod(o->b, u128_of(o->type.bits)));
    u128 one = u128_shl(u128_of(1), at);
    bool was = u128_bit(o->a, at);
    if (o->opcode == COIL_OP_BITCHK) {
        o->result = u128_of(was);
        o->flags = (uint8_t)(wide_ops_bit(!was, COIL_Z) | wide_ops_bit(was, COIL_C));
        return;
    }
    wide_ops_plain(o, o->opcode == COIL_OP_BITSET   ? u128_or(o->a, one)
                      : o->opcode == COIL_OP_BITCLR ? u128_and(o->a, u128_not(one))
                                                    : u128_xor(o->a, one));
    o->flags |= wide_ops_bit(was, COIL_C);
}

static bool wide_ops_less(struct coil_width w, u128 a, u128 b)
{
    return w.is_signed ? u128_less_signed(a, b) : u128_less(a, b);
}

static unsigned wide_ops_ones(u128 v)
{
    return (unsigned)(__builtin_popcountll(u128_low(v)) + __builtin_popcountll(u128_high(v)));
}

static void wide_ops_operate(struct coil_wide_operation *o)
{
    struct coil_width w = o->type;
    struct exact a = exact_of(w, o->a);
    switch (o->opcode) {
    case COIL_OP_ADD: wide_ops_add(o, o->b, false); break;
    case COIL_OP_ADDC: wide_ops_add(o, o->b, o->carry); break;
    case COIL_OP_INC: wide_ops_add(o, u128_of(1), false); break;
    case COIL_OP_CMP: o->to = NULL; /* fall through */
    case COIL_OP_SUB: wide_ops_subtract(o, o->a, o->b, false); break;
    case COIL_OP_SUBB: wide_ops_subtract(o, o->a, o->b, o->carry); break;
    case COIL_OP_DEC: wide_ops_subtract(o, o->a, u128_of(1), false); break;
    case COIL_OP_NEG:
        wide_ops_deliver(o, wide_ops_opposite(a), wide_ops_bit(!u128_is_zero(o->a), COIL_C));
        break;
    case COIL_OP_MUL: wide_ops_multiply(o); break;
    case COIL_OP_DIV:
    case COIL_OP_MOD:
    case COIL_OP_DIVMOD: wide_ops_divide(o); break;
    case COIL_OP_ABS: wide_ops_deliver(o, a.negative ? wide_ops_opposite(a) : a, 0); break;
    case COIL_OP_SQRT:
        wide_ops_plain(o, a.negative ? u128_of(0) : wide_ops_root(o->a));
        o->flags |= wide_ops_bit(a.negative, COIL_N);
        break;
    case COIL_OP_CEIL:
    case COIL_OP_FLOR:
    case COIL_OP_ROND: wide_ops_plain(o, o->a); break;
    case COIL_OP_MIN: o->result = wide_ops_less(w, o->a, o->b) ? o->a : o->b; break;
    case COIL_OP_MAX: o->result = wide_ops_less(w, o->b, o->a) ? o->a : o->b; break;
    case COIL_OP_CLAMP:
        o->result = wide_ops_less(w, o->a, o->b) ? o->b : o->a;
        if (wide_ops_less(w, o->c, o->result)) o->result = o->c;
        break;
    case COIL_OP_FMA: o->result = coil_extend(w, u128_add(u128_mul(o->a, o->b), o->c)); break;
    case COIL_OP_MULH: o->result = high_half(w, o->a, o->b); break;
    case COIL_OP_TEST:
    case COIL_OP_AND: wide_ops_plain(o, u128_and(o->a, o->b)); break;
    case COIL_OP_OR: wide_ops_plain(o, u128_or(o->a, o->b)); break;
    case COIL_OP_XOR: wide_ops_plain(o, u128_xor(o->a, o->b)); break;
    case COIL_OP_NOT: wide_ops_plain(o, u128_not(o->a)); break;
    case COIL_OP_BSWAP: wide_ops_plain(o, swap_bytes(w, o->a)); break;
    case COIL_OP_POPCNT:
        wide_ops_plain(o, u128_of(wide_ops_ones(u128_and(o->a, mask_of(w)))));
        break;
    case COIL_OP_BITSET:
    case COIL_OP_BITCLR:
    case COIL_OP_BITTGL:
    case COIL_OP_BITCHK: bit_number(o); break;
    default: wide_ops_shift(o);
    }
}

void coil_wide_operate(struct coil_wide_operation *o)
{
    const struct coil_op_info *op = &coil_ops[o->opcode];
    o->in_destination = false;
    o->flags = 0;
    wide_ops_operate(o);
    o->flags &= op->writes & (uint8_t)~op->clears;
}
