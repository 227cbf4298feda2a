/* Implements long double of 128 bits: arithmetic, and conversions from and to float and double. */
#include "arith/wider.h"

static quad_bits div_by(quad_bits high, quad_bits low, quad_bits d, quad_bits *rest)
{
    int shift = __builtin_clzll(wider_high(d)); /* The shift is 15 for normal numbers. */
    return wider_div(high << shift | low >> (128 - shift), low << shift, d << shift, rest);
}

#define FLOAT quad
#define REP quad_bits
#define WIDTH 128
#define FRACTION 112
#define MUL_HIGH(a, b, low) wider_mul(a, b, low)
#define DIV_BY(high, low, d, rest) div_by(high, low, d, rest)
#define NAME(operation, rest) __##operation##tf##rest
#include "arith/float_arith.h"

/* Converts the bits of a float or double. */
static quad quad_extend(uint64_t bits, int fraction_bits, int exponent_max)
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
    if (!exponent) { /* A subnormal float or double is a normal quad. */
        int shift = __builtin_clzll(fraction) - (63 - fraction_bits);
        fraction = fraction << shift & ((UINT64_C(1) << fraction_bits) - 1);
        exponent = 1 - shift;
    }
    return float_of(sign | (quad_bits)(unsigned)(exponent - exponent_max / 2 + BIAS) << FRACTION |
                    (quad_bits)fraction << (FRACTION - fraction_bits));
}

static uint64_t quad_narrow(quad x, int fraction_bits, int exponent_max)
{
    quad_bits a = bits_of(x), significand;
    uint64_t sign = a & SIGN ? UINT64_C(1) << (fraction_bits == 52 ? 63 : 31) : 0;
    uint64_t infinite = (uint64_t)exponent_max << fraction_bits;
    a = float_magnitude(a);
    if (a > INFINITE) return sign | infinite | UINT64_C(1) << (fraction_bits - 1);
    if (!a) return sign;
    if (a == INFINITE) return sign | infinite;
    int exponent = float_unpack(a, &significand) - BIAS + exponent_max / 2,
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
    return quad_extend(bits, 52, 2047);
}

quad __extendsftf2(float x)
{
    uint32_t bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    return quad_extend(bits, 23, 255);
}

double __trunctfdf2(quad x)
{
    uint64_t bits = quad_narrow(x, 52, 2047);
    double result;
    __builtin_memcpy(&result, &bits, sizeof result);
    return result;
}

float __trunctfsf2(quad x)
{
    uint32_t bits = (uint32_t)quad_narrow(x, 23, 255);
    float result;
    __builtin_memcpy(&result, &bits, sizeof result);
    return result;
}
