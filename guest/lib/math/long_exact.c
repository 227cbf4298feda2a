/* Implements functions of long double that are exact or correctly rounded. */
#include <limits.h>
#include <math.h>
#include "math/long_functions.h"
#include "math/long_real.h"

enum { FRACTION = 112, BIAS = 16383, TOP = 32767 };
#define SIGN ((quad_bits)1 << 127)
#define ONE ((quad_bits)1 << FRACTION)
#define INFINITE ((quad_bits)TOP << FRACTION)

static quad_bits bits_of(quad x)
{
    quad_bits bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    return bits;
}

static quad quad_of(quad_bits bits)
{
    quad x;
    __builtin_memcpy(&x, &bits, sizeof x);
    return x;
}

static bool is_nan(quad x) { return (bits_of(x) & ~SIGN) > INFINITE; }
static bool is_infinite(quad x) { return (bits_of(x) & ~SIGN) == INFINITE; }
static bool quad_is_zero(quad x) { return !(bits_of(x) & ~SIGN); }

quad penta_quad_abs(quad x) { return quad_of(bits_of(x) & ~SIGN); }
quad penta_quad_copysign(quad x, quad y)
{
    return quad_of((bits_of(x) & ~SIGN) | (bits_of(y) & SIGN));
}
bool penta_quad_finite(quad x) { return (bits_of(x) & ~SIGN) < INFINITE; }
quad penta_quad_infinity(void) { return quad_of(INFINITE); }
quad penta_quad_nan(void) { return quad_of(INFINITE | ONE >> 1); }

/* Rounds to an integer: towards zero, away from zero (away), or to the nearest with ties away
 * from zero (half) or to even (even). */
static quad to_integer(quad x, bool away, bool half, bool even)
{
    quad_bits bits = bits_of(x), sign = bits & SIGN;
    int exponent = (int)(bits >> FRACTION & TOP) - BIAS;
    if (exponent >= FRACTION) return x;
    if (exponent < 0) {
        bool up = half   ? exponent == -1
                  : even ? exponent == -1 && bits & (ONE - 1)
                         : away && bits & ~SIGN;
        return quad_of(sign | (up ? (quad_bits)BIAS << FRACTION : 0));
    }
    quad_bits below = (ONE - 1) >> exponent;
    if (!(bits & below)) return x;
    if (even) /* A tie goes up if the lowest bit of the integer is set. */
        bits += below / 2 + ((bits & (below + 1)) != 0 || exponent == 0);
    else if (half)
        bits += (below + 1) / 2;
    else if (away)
        bits += below;
    return quad_of(bits & ~below);
}

quad penta_quad_trunc(quad x) { return to_integer(x, false, false, false); }
quad penta_quad_floor(quad x) { return to_integer(x, (bits_of(x) & SIGN) != 0, false, false); }
quad penta_quad_ceil(quad x) { return to_integer(x, !(bits_of(x) & SIGN), false, false); }
quad penta_quad_round(quad x) { return to_integer(x, false, true, false); }
quad penta_quad_rint(quad x) { return to_integer(x, false, false, true); }

quad penta_quad_modf(quad x, quad *whole)
{
    *whole = penta_quad_trunc(x);
    return penta_quad_copysign(is_infinite(x) ? 0 : x - *whole, x);
}

static bool quad_is_ordinary(quad x) { return !quad_is_zero(x) && penta_quad_finite(x); }

quad penta_quad_frexp(quad x, int *exponent)
{
    *exponent = 0;
    if (!quad_is_ordinary(x)) return x;
    struct long_real a = penta_long_of(x);
    *exponent = a.exponent + 1;
    a.exponent = -1;
    return penta_long_round(a);
}

quad penta_quad_ldexp(quad x, int exponent)
{
    if (!quad_is_ordinary(x)) return x;
    if (exponent > 70000) exponent = 70000;
    if (exponent < -70000) exponent = -70000;
    return penta_long_round(long_scale(penta_long_of(x), exponent));
}

quad penta_quad_logb(quad x)
{
    if (is_nan(x)) return x;
    if (is_infinite(x)) return quad_of(INFINITE);
    return quad_is_zero(x) ? quad_of(INFINITE | SIGN) : penta_long_of(x).exponent;
}

int penta_quad_ilogb(quad x)
{
    if (is_nan(x)) return FP_ILOGBNAN;
    if (is_infinite(x)) return INT_MAX;
    return quad_is_zero(x) ? FP_ILOGB0 : penta_long_of(x).exponent;
}

quad penta_quad_nextafter(quad x, quad y)
{
    quad_bits bits = bits_of(x);
    if (is_nan(x) || is_nan(y)) return penta_quad_nan();
    if (x == y) return y;
    if (quad_is_zero(x)) return quad_of(1 | (bits_of(y) & SIGN));
    return quad_of((x < y) == !(bits & SIGN) ? bits + 1 : bits - 1);
}

quad penta_quad_fmin(quad x, quad y) { return is_nan(x) || y < x ? y : x; }
quad penta_quad_fmax(quad x, quad y) { return is_nan(x) || y > x ? y : x; }
quad penta_quad_fdim(quad x, quad y)
{
    if (is_nan(x) || is_nan(y)) return penta_quad_nan();
    return x > y ? x - y : 0;
}

/* Computes |x| modulo |y|, with the lowest bits of the quotient. Both numbers are finite and not
 * zero. */
static struct long_real long_modulo(struct long_real x, struct long_real y, unsigned *quotient)
{
    /* The shift makes room for one more bit. */
    quad_bits a = x.significand >> 1, b = y.significand >> 1;
    *quotient = 0;
    if (x.exponent < y.exponent) return long_abs(x);
    for (int e = x.exponent; e >= y.exponent; e--) {
        *quotient <<= 1;
        if (a >= b) {
            a -= b;
            ++*quotient;
        }
        if (e > y.exponent) a <<= 1;
    }
    return penta_long_make(false, a << 1, y.exponent);
}

quad penta_quad_fmod(quad x, quad y)
{
    unsigned quotient;
    if (is_nan(x) || is_nan(y) || is_infinite(x) || quad_is_zero(y)) return penta_quad_nan();
    if (is_infinite(y) || quad_is_zero(x)) return x;
    struct long_real rest = long_modulo(penta_long_of(x), penta_long_of(y), &quotient);
    return penta_quad_copysign(penta_long_round(rest), x);
}

quad penta_quad_remquo(quad x, quad y, int *quotient)
{
    unsigned n = 0;
    *quotient = 0;
    if (is_nan(x) || is_nan(y) || is_infinite(x) || quad_is_zero(y)) return penta_quad_nan();
    if (is_infinite(y) || quad_is_zero(x)) return x;
    struct long_real b = long_abs(penta_long_of(y)), rest = long_modulo(penta_long_of(x), b, &n);
    struct long_real twice = rest;
    if (rest.significand) twice.exponent++;
    int order = penta_long_compare(twice, b);
    if (order > 0 || (order == 0 && n & 1)) {
        rest = penta_long_sub(rest, b);
        n++;
    }
    n &= 7;
    bool negative = (bits_of(x) ^ bits_of(y)) >> 127 != 0;
    *quotient = negative ? -(int)n : (int)n;
    if (!rest.significand) return penta_quad_copysign(0, x);
    if (bits_of(x) & SIGN) rest = long_negate(rest);
    return penta_long_round(rest);
}

quad penta_quad_remainder(quad x, quad y)
{
    int quotient;
    return penta_quad_remquo(x, y, &quotient);
}

quad penta_quad_sqrt(quad x)
{
    if (is_nan(x) || quad_is_zero(x)) return x;
    if (bits_of(x) & SIGN) return penta_quad_nan();
    if (is_infinite(x)) return x;
    struct long_real a = penta_long_of(x);
    int odd = a.exponent & 1;
    /* The significand has its leading one at bit 126 or, for odd exponents, at 127, with 128 zeros below. */
    quad_bits high = odd ? a.significand : a.significand >> 1, low = 0, root = 0, rest = 0;
    for (int i = 0; i < 116; i++) {
        rest = rest << 2 | high >> 126;
        high = high << 2 | low >> 126;
        low <<= 2;
        quad_bits trial = root << 2 | 1;
        root <<= 1;
        if (rest >= trial) {
            rest -= trial;
            root |= 1;
        }
    }
    /* The root has 116 bits, the leading one at bit 115. The lowest bit also stands for the
     * rest. */
    root |= rest != 0;
    return penta_long_round(penta_long_make(false, root, (a.exponent - odd) / 2 + 12));
}

struct long_sum { /* A sum has 256 bits, with the leading one at bit 253. */
    quad_bits high, low;
    int exponent; /* the exponent of bit 253 */
    bool negative;
};

static struct long_sum sum_normal(bool negative, quad_bits high, quad_bits low, int exponent)
{
    /* The exponent here is that of bit 255. */
    if (!high) {
        high = low;
        low = 0;
        exponent -= 128;
    }
    int shift =
        wider_high(high) ? __builtin_clzll(wider_high(high)) : 64 + __builtin_clzll((uint64_t)high);
    if (shift) {
        high = high << shift | low >> (128 - shift);
        low <<= shift;
    }
    bool lost = low & 3;
    low = low >> 2 | high << 126 | lost;
    high >>= 2;
    return (struct long_sum){high, low, exponent - shift, negative};
}

/* Shifts a sum down. Sets its bit 0 if any bit that is lost was set. */
static void sum_shift(struct long_sum *n, int count)
{
    bool lost = false;
    for (; count > 0 && (n->high || n->low); count -= 127) {
        int part = count < 127 ? count : 127;
        lost |= (n->low & (((quad_bits)1 << part) - 1)) != 0;
        n->low = n->low >> part | n->high << (128 - part);
        n->high >>= part;
    }
    n->low |= lost;
}

static quad sum_add(struct long_sum a, struct long_sum b)
{
    if (a.exponent < b.exponent ||
        (a.exponent == b.exponent && (a.high < b.high || (a.high == b.high && a.low < b.low)))) {
        struct long_sum t = a;
        a = b;
        b = t;
    }
    sum_shift(&b, a.exponent - b.exponent);
    if (a.negative == b.negative) {
        a.low += b.low;
        a.high += b.high + (a.low < b.low);
    } else {
        a.high -= b.high + (a.low < b.low);
        a.low -= b.low;
    }
    if (!a.high && !a.low) return 0;
    a = sum_normal(a.negative, a.high, a.low, a.exponent + 2);
    quad_bits top = a.high << 2 | a.low >> 126;
    return penta_long_round((struct long_real){top | (a.low << 2 != 0), a.exponent, a.negative});
}

quad penta_quad_fma(quad x, quad y, quad z)
{
    if (is_nan(x) || is_nan(y) || is_nan(z)) return penta_quad_nan();
    if (!quad_is_ordinary(x) || !quad_is_ordinary(y)) return x * y + z;
    if (is_infinite(z)) return z;
    struct long_real a = penta_long_of(x), b = penta_long_of(y), c = penta_long_of(z);
    quad_bits low, high = wider_mul(a.significand, b.significand, &low);
    struct long_sum p =
        sum_normal(a.negative != b.negative, high, low, a.exponent + b.exponent + 1);
    if (!c.significand) return sum_add(p, (struct long_sum){0, 0, p.exponent, p.negative});
    return sum_add(p, sum_normal(c.negative, c.significand, 0, c.exponent));
}
