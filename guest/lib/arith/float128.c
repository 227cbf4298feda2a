/* long double, of 128 bits: arithmetic, and conversions from and to float and double. */
#include <stdbool.h>
#include "arith/quad.h"
#include "arith/wide.h"

static quad_bits join(uint64_t high, uint64_t low) { return (quad_bits)high << 64 | low; }
static uint64_t high_of(quad_bits x) { return (uint64_t)(x >> 64); }

static quad_bits product(uint64_t a, uint64_t b)
{
    uint64_t low, high = wide_mul(a, b, &low);
    return join(high, low);
}

static quad_bits mul_high(quad_bits a, quad_bits b, quad_bits *low)
{
    uint64_t ah = high_of(a), al = (uint64_t)a, bh = high_of(b), bl = (uint64_t)b;
    quad_bits first = product(al, bl), mid = product(ah, bl) + high_of(first);
    quad_bits other = product(al, bh) + (uint64_t)mid;
    *low = join((uint64_t)other, (uint64_t)first);
    return product(ah, bh) + high_of(mid) + high_of(other);
}

/* rest:next / d, one digit of 64 bits; *rest becomes the remainder. rest < d, and the highest bit of d is set. */
static uint64_t digit(quad_bits *rest, uint64_t next, quad_bits d)
{
    uint64_t dh = high_of(d), dl = (uint64_t)d, q = UINT64_MAX, r = 0;
    bool small = true; /* r fits 64 bits */
    if (high_of(*rest) < dh) {
        q = wide_div(high_of(*rest), (uint64_t)*rest, dh, &r);
    } else {
        r = (uint64_t)*rest + dh;
        small = r >= dh;
    }
    while (small && product(q, dl) > join(r, next)) { /* q is at most two too large */
        q--;
        r += dh;
        small = r >= dh;
    }
    *rest = join((uint64_t)*rest, next) - (product(q, dl) + join(q * dh, 0));
    return q;
}

static quad_bits div_by(quad_bits high, quad_bits low, quad_bits d, quad_bits *rest)
{
    int shift = __builtin_clzll(high_of(d)); /* 15 for normal numbers */
    d <<= shift;
    *rest = high << shift | low >> (128 - shift);
    low <<= shift;
    uint64_t first = digit(rest, high_of(low), d);
    return join(first, digit(rest, (uint64_t)low, d));
}

#define FLOAT quad
#define REP quad_bits
#define WIDTH 128
#define FRACTION 112
#define MUL_HIGH(a, b, low) mul_high(a, b, low)
#define DIV_BY(high, low, d, rest) div_by(high, low, d, rest)
#define NAME(operation, rest) __##operation##tf##rest
#include "arith/float_arith.h"

/* ---- from and to shorter numbers ---- */

/* From the bits of a float or double. */
static quad extend(uint64_t bits, int fraction_bits, int exponent_max)
{
    uint64_t fraction = bits & ((UINT64_C(1) << fraction_bits) - 1);
    int exponent = (int)(bits >> fraction_bits) & exponent_max;
    int width = fraction_bits == 52 ? 64 : 32;
    quad_bits sign = bits >> (width - 1) ? SIGN : 0;
    if (exponent == exponent_max)
        return float_of(fraction
                            ? sign | QUIET_NAN | (quad_bits)fraction << (FRACTION - fraction_bits)
                            : sign | INFINITE);
    if (!exponent && !fraction) return float_of(sign);
    if (!exponent) { /* a subnormal float or double is a normal quad */
        int shift = __builtin_clzll(fraction) - (63 - fraction_bits);
        fraction = fraction << shift & ((UINT64_C(1) << fraction_bits) - 1);
        exponent = 1 - shift;
    }
    return float_of(sign | (quad_bits)(unsigned)(exponent - exponent_max / 2 + BIAS) << FRACTION |
                    (quad_bits)fraction << (FRACTION - fraction_bits));
}

static uint64_t narrow(quad x, int fraction_bits, int exponent_max)
{
    quad_bits a = bits_of(x), significand;
    uint64_t sign = a & SIGN ? UINT64_C(1) << (fraction_bits == 52 ? 63 : 31) : 0;
    uint64_t infinite = (uint64_t)exponent_max << fraction_bits;
    a = magnitude(a);
    if (a > INFINITE) return sign | infinite | UINT64_C(1) << (fraction_bits - 1);
    if (!a) return sign;
    if (a == INFINITE) return sign | infinite;
    int exponent = unpack(a, &significand) - BIAS + exponent_max / 2,
        drop = FRACTION - fraction_bits;
    if (exponent >= exponent_max) return sign | infinite;
    if (exponent <= 0) {
        drop += 1 - exponent;
        exponent = 0;
    }
    if (drop > FRACTION + 1) return sign;
    quad_bits half = (quad_bits)1 << (drop - 1), below = significand & (2 * half - 1);
    uint64_t kept = (uint64_t)(significand >> drop);
    if (below > half || (below == half && kept & 1)) kept++;
    return sign | ((exponent ? (uint64_t)(exponent - 1) << fraction_bits : 0) + kept);
}

quad __extenddftf2(double x)
{
    uint64_t bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    return extend(bits, 52, 2047);
}

quad __extendsftf2(float x)
{
    uint32_t bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    return extend(bits, 23, 255);
}

double __trunctfdf2(quad x)
{
    uint64_t bits = narrow(x, 52, 2047);
    double result;
    __builtin_memcpy(&result, &bits, sizeof result);
    return result;
}

float __trunctfsf2(quad x)
{
    uint32_t bits = (uint32_t)narrow(x, 23, 255);
    float result;
    __builtin_memcpy(&result, &bits, sizeof result);
    return result;
}
