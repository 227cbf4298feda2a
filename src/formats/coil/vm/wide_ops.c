#include "coil/vm/wide_ops.h"
#include "coil/vm/shifts.h"
#include <math.h>

typedef __int128 wide;

struct coil_width coil_width_of(const struct coil_type *t)
{
    if (coil_is_wide(t)) return (struct coil_width){(uint8_t)t->dims[0], t->op == COIL_T_CINT};
    return (struct coil_width){(uint8_t)(8 * coil_types[t->op].bytes),
                               coil_types[t->op].family == COIL_F_SIGNED};
}

static coil_bits mask_of(struct coil_width w) { return ~(coil_bits)0 >> (128 - w.bits); }

coil_bits coil_extend(struct coil_width w, coil_bits value)
{
    unsigned shift = 128u - w.bits;
    return w.is_signed ? (coil_bits)((wide)(value << shift) >> shift) : value << shift >> shift;
}

/* ---- exact results: a sum of two 128-bit numbers needs more ---- */

struct exact {
    bool negative, huge; /* huge: 2^128 or more, where only the sign still matters */
    coil_bits magnitude;
};

static struct exact exact_of(struct coil_width w, coil_bits v)
{
    bool negative = w.is_signed && (wide)v < 0;
    return (struct exact){negative, false, negative ? 0 - v : v};
}

static struct exact opposite(struct exact e)
{
    e.negative = !e.negative && (e.magnitude || e.huge);
    return e;
}

static struct exact exact_add(struct exact a, struct exact b)
{
    if (a.negative == b.negative) {
        coil_bits sum = a.magnitude + b.magnitude;
        return (struct exact){a.negative, a.huge || b.huge || sum < a.magnitude, sum};
    }
    if (a.huge) return a;
    if (a.magnitude < b.magnitude)
        return (struct exact){b.negative, false, b.magnitude - a.magnitude};
    coil_bits rest = a.magnitude - b.magnitude;
    return (struct exact){rest && a.negative, false, rest};
}

static struct exact exact_multiply(struct exact a, struct exact b)
{
    bool huge = a.magnitude && b.magnitude > ~(coil_bits)0 / a.magnitude;
    coil_bits product = a.magnitude * b.magnitude;
    return (struct exact){a.negative != b.negative && (product || huge), huge, product};
}

static bool fits(struct exact e, struct coil_width w)
{
    coil_bits most = mask_of(w) >> w.is_signed;
    if (e.huge) return false;
    return e.negative ? w.is_signed && e.magnitude <= most + 1 : e.magnitude <= most;
}

static coil_bits clamp(struct exact e, struct coil_width w, bool *changed)
{
    coil_bits most = mask_of(w) >> w.is_signed;
    *changed = !fits(e, w);
    if (*changed) return !e.negative ? most : w.is_signed ? coil_extend(w, most + 1) : 0;
    return e.negative ? 0 - e.magnitude : e.magnitude;
}

/* ---- conversions ---- */

static bool is_real(uint8_t op) { return coil_types[op].family == COIL_F_REAL; }

static coil_bits real_to_int(double v, struct coil_width w)
{
    coil_bits most = mask_of(w) >> w.is_signed;
    if (isnan(v)) return 0;
    if (v >= ldexp(1, w.bits - w.is_signed)) return most;
    if (!w.is_signed) return v <= 0 ? 0 : (coil_bits)v;
    return v <= -ldexp(1, w.bits - 1) ? coil_extend(w, most + 1) : (coil_bits)(wide)v;
}

static uint64_t int_to_real(struct coil_number n, uint8_t to)
{
    wide value = (wide)n.value;
    if (to == COIL_T_FP32) /* rounded once */
        return coil_real_bits(to, (double)(n.width.is_signed ? (float)value : (float)n.value));
    return coil_real_bits(to, n.width.is_signed ? (double)value : (double)n.value);
}

struct coil_number coil_number_convert(struct coil_number n, uint8_t to, struct coil_width width,
                                       bool saturate)
{
    struct coil_number out = {.op = to, .width = width};
    bool changed;
    if (is_real(n.op)) {
        double r = coil_real(n.op, (uint64_t)n.value);
        out.value = is_real(to)        ? coil_real_bits(to, r)
                    : to == COIL_T_BIT ? r != 0
                                       : real_to_int(r, width);
    } else if (is_real(to)) {
        out.value = int_to_real(n, to);
    } else if (to == COIL_T_BIT) {
        out.value = n.value != 0;
    } else {
        out.value = saturate ? clamp(exact_of(n.width, n.value), width, &changed)
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

/* ---- operations ---- */

static uint8_t bit(bool on, uint8_t flag) { return on ? flag : 0; }

static uint8_t result_flags(struct coil_width w, coil_bits r)
{
    coil_bits bits = r & mask_of(w);
    bool odd = __builtin_parityll((uint64_t)bits) ^ __builtin_parityll((uint64_t)(bits >> 64));
    return (uint8_t)(bit(!bits, COIL_Z) | bit(w.is_signed && (wide)r < 0, COIL_S) |
                     bit(!odd, COIL_P));
}

/* Wraps or clamps; V says that the exact result was not representable. */
static void deliver(struct coil_wide_operation *o, struct exact e, uint8_t extra)
{
    struct coil_width w = o->to ? *o->to : o->type;
    bool lost;
    if (o->to) {
        o->result = clamp(e, w, &lost);
        o->in_destination = true;
    } else {
        lost = !fits(e, w);
        o->result = coil_extend(w, e.negative ? 0 - e.magnitude : e.magnitude);
    }
    o->flags = (uint8_t)(result_flags(w, o->result) | extra | bit(lost, COIL_V));
}

static void plain(struct coil_wide_operation *o, coil_bits r)
{
    o->result = coil_extend(o->type, r);
    o->flags = result_flags(o->type, o->result);
}

static void add(struct coil_wide_operation *o, coil_bits b, bool carry)
{
    coil_bits mask = mask_of(o->type), x = o->a & mask, y = b & mask, sum = x + y + carry;
    bool over = o->type.bits == 128 ? sum < x || (carry && sum == x) : sum > mask;
    struct exact one = {.magnitude = carry};
    deliver(o, exact_add(exact_add(exact_of(o->type, o->a), exact_of(o->type, b)), one),
            bit(over, COIL_C));
}

static void subtract(struct coil_wide_operation *o, coil_bits a, coil_bits b, bool borrow)
{
    coil_bits mask = mask_of(o->type), x = a & mask, y = b & mask;
    struct exact one = {.magnitude = borrow};
    deliver(
        o,
        exact_add(exact_add(exact_of(o->type, a), opposite(exact_of(o->type, b))), opposite(one)),
        bit(x < y || (borrow && x == y), COIL_C));
}

static void multiply(struct coil_wide_operation *o)
{
    struct exact e = exact_multiply(exact_of(o->type, o->a), exact_of(o->type, o->b));
    deliver(o, e, bit(!fits(e, o->type), COIL_C));
}

/* The upper half of the product of two numbers of n bits: in four parts of 64 by 64 bits. */
static coil_bits high_half(struct coil_width w, coil_bits a, coil_bits b)
{
    struct exact x = exact_of(w, a), y = exact_of(w, b);
    uint64_t xl = (uint64_t)x.magnitude, xh = (uint64_t)(x.magnitude >> 64);
    uint64_t yl = (uint64_t)y.magnitude, yh = (uint64_t)(y.magnitude >> 64);
    coil_bits ll = (coil_bits)xl * yl, lh = (coil_bits)xl * yh, hl = (coil_bits)xh * yl;
    coil_bits middle = (ll >> 64) + (uint64_t)lh + (uint64_t)hl;
    coil_bits low = (uint64_t)ll | middle << 64;
    coil_bits high = (coil_bits)xh * yh + (lh >> 64) + (hl >> 64) + (middle >> 64);
    if (x.negative != y.negative) {
        low = 0 - low;
        high = ~high + !low;
    }
    return coil_extend(w, w.bits == 128 ? high : low >> w.bits | high << (128 - w.bits));
}

static void divide(struct coil_wide_operation *o)
{
    struct exact a = exact_of(o->type, o->a), b = exact_of(o->type, o->b);
    if (!b.magnitude) {
        o->second = 0;
        deliver(o, b, COIL_D);
        return;
    }
    struct exact quotient = {.magnitude = a.magnitude / b.magnitude};
    struct exact rest = {.magnitude = a.magnitude % b.magnitude};
    quotient.negative = quotient.magnitude && a.negative != b.negative;
    rest.negative = rest.magnitude && a.negative;
    o->second = coil_extend(o->type, rest.negative ? 0 - rest.magnitude : rest.magnitude);
    if (o->opcode == COIL_OP_MOD) o->to = NULL;
    deliver(o, o->opcode == COIL_OP_MOD ? rest : quotient, 0);
}

static coil_bits root(coil_bits v)
{
    coil_bits r = 0;
    for (coil_bits step = (coil_bits)1 << 126; step; step >>= 2) {
        bool over = v >= r + step;
        if (over) v -= r + step;
        r = (r >> 1) + (over ? step : 0);
    }
    return r;
}

DEFINE_SHIFT(shifted, coil_bits, wide)

static void shift(struct coil_wide_operation *o)
{
    unsigned n = o->type.bits;
    coil_bits v = o->a & mask_of(o->type);
    uint64_t count = o->b > 255 ? 255 : (uint64_t)o->b; /* more than any width */
    bool carry, left = o->opcode == COIL_OP_SHL || o->opcode == COIL_OP_SAL;
    coil_bits r = shifted(o->opcode, v, n, count, (unsigned)(o->b % n), &carry);
    plain(o, r);
    o->flags |=
        (uint8_t)(bit(carry, COIL_C) | bit(left && count && (r ^ v) >> (n - 1) & 1, COIL_V));
}

/* The bytes of the value in reverse; the first of an odd width has fewer bits. */
static coil_bits swap_bytes(struct coil_width w, coil_bits v)
{
    coil_bits r = 0, in = v & mask_of(w);
    for (unsigned i = 0; i < (w.bits + 7u) / 8; i++, in >>= 8) r = r << 8 | (uint8_t)in;
    return r;
}

static void bit_number(struct coil_wide_operation *o)
{
    coil_bits one = (coil_bits)1 << (unsigned)(o->b % o->type.bits);
    bool was = o->a & one;
    if (o->opcode == COIL_OP_BITCHK) {
        o->result = was;
        o->flags = (uint8_t)(bit(!was, COIL_Z) | bit(was, COIL_C));
        return;
    }
    plain(o, o->opcode == COIL_OP_BITSET   ? o->a | one
             : o->opcode == COIL_OP_BITCLR ? o->a & ~one
                                           : o->a ^ one);
    o->flags |= bit(was, COIL_C);
}

static bool less(struct coil_width w, coil_bits a, coil_bits b)
{
    return w.is_signed ? (wide)a < (wide)b : a < b;
}

static unsigned ones(coil_bits v)
{
    return (unsigned)(__builtin_popcountll((uint64_t)v) +
                      __builtin_popcountll((uint64_t)(v >> 64)));
}

static void operate(struct coil_wide_operation *o)
{
    struct coil_width w = o->type;
    struct exact a = exact_of(w, o->a);
    switch (o->opcode) {
    case COIL_OP_ADD: add(o, o->b, false); break;
    case COIL_OP_ADDC: add(o, o->b, o->carry); break;
    case COIL_OP_INC: add(o, 1, false); break;
    case COIL_OP_CMP: o->to = NULL; /* fall through */
    case COIL_OP_SUB: subtract(o, o->a, o->b, false); break;
    case COIL_OP_SUBB: subtract(o, o->a, o->b, o->carry); break;
    case COIL_OP_DEC: subtract(o, o->a, 1, false); break;
    case COIL_OP_NEG: deliver(o, opposite(a), bit(o->a != 0, COIL_C)); break;
    case COIL_OP_MUL: multiply(o); break;
    case COIL_OP_DIV:
    case COIL_OP_MOD:
    case COIL_OP_DIVMOD: divide(o); break;
    case COIL_OP_ABS: deliver(o, a.negative ? opposite(a) : a, 0); break;
    case COIL_OP_SQRT:
        plain(o, a.negative ? 0 : root(o->a));
        o->flags |= bit(a.negative, COIL_N);
        break;
    case COIL_OP_CEIL:
    case COIL_OP_FLOR:
    case COIL_OP_ROND: plain(o, o->a); break;
    case COIL_OP_MIN: o->result = less(w, o->a, o->b) ? o->a : o->b; break;
    case COIL_OP_MAX: o->result = less(w, o->b, o->a) ? o->a : o->b; break;
    case COIL_OP_CLAMP:
        o->result = less(w, o->a, o->b) ? o->b : o->a;
        if (less(w, o->c, o->result)) o->result = o->c;
        break;
    case COIL_OP_FMA: o->result = coil_extend(w, o->a * o->b + o->c); break;
    case COIL_OP_MULH: o->result = high_half(w, o->a, o->b); break;
    case COIL_OP_TEST:
    case COIL_OP_AND: plain(o, o->a & o->b); break;
    case COIL_OP_OR: plain(o, o->a | o->b); break;
    case COIL_OP_XOR: plain(o, o->a ^ o->b); break;
    case COIL_OP_NOT: plain(o, ~o->a); break;
    case COIL_OP_BSWAP: plain(o, swap_bytes(w, o->a)); break;
    case COIL_OP_POPCNT: plain(o, ones(o->a & mask_of(w))); break;
    case COIL_OP_BITSET:
    case COIL_OP_BITCLR:
    case COIL_OP_BITTGL:
    case COIL_OP_BITCHK: bit_number(o); break;
    default: shift(o);
    }
}

void coil_wide_operate(struct coil_wide_operation *o)
{
    const struct coil_op_info *op = &coil_ops[o->opcode];
    o->in_destination = false;
    o->flags = 0;
    operate(o);
    o->flags &= op->writes & (uint8_t)~op->clears;
}
