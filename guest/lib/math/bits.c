/* Implements functions that work on the bits of a double, with exact or correctly rounded
 * results. */
#include <math.h>
#include <stdint.h>
#include <string.h>

enum { FRACTION = 52, BIAS = 1023, TOP = 2047 };
static const uint64_t sign_bit = UINT64_C(1) << 63, one = UINT64_C(1) << FRACTION;

static uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static double double_of(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static int exponent_of(uint64_t bits) { return (int)(bits >> FRACTION & TOP); }

double fabs(double x) { return double_of(bits_of(x) & ~sign_bit); }
double copysign(double x, double sign)
{
    return double_of((bits_of(x) & ~sign_bit) | (bits_of(sign) & sign_bit));
}

/* Rounds to an integer: towards zero, away from zero (away), or to the nearest, ties away from zero (half). */
static double to_integer(double x, int away, int half)
{
    uint64_t bits = bits_of(x), sign = bits & sign_bit;
    int exponent = exponent_of(bits) - BIAS;
    /* The number is an integer, infinite or NaN. */
    if (exponent >= FRACTION) return exponent == TOP - BIAS ? x + x : x;
    if (exponent < 0) {
        int up = half ? exponent == -1 : away && bits & ~sign_bit;
        return double_of(sign | (up ? (uint64_t)BIAS << FRACTION : 0));
    }
    uint64_t below = (one - 1) >> exponent;
    if (!(bits & below)) return x;
    if (half)
        bits += (below + 1) / 2;
    else if (away)
        bits += below;
    return double_of(bits & ~below);
}

double trunc(double x) { return to_integer(x, 0, 0); }
double floor(double x) { return to_integer(x, bits_of(x) >> 63, 0); }
double ceil(double x) { return to_integer(x, !(bits_of(x) >> 63), 0); }
double round(double x) { return to_integer(x, 0, 1); }

double modf(double x, double *integer)
{
    *integer = trunc(x);
    return copysign(isinf(x) ? 0 : x - *integer, x);
}

/* Returns the biased exponent. *significand gets the significand with its leading one at bit
 * FRACTION. The number must not be zero, infinite or NaN. */
static int double_unpack(uint64_t bits, uint64_t *significand)
{
    int exponent = exponent_of(bits);
    *significand = bits & (one - 1);
    if (exponent) {
        *significand |= one;
        return exponent;
    }
    int shift = __builtin_clzll(*significand) - (63 - FRACTION);
    *significand <<= shift;
    return 1 - shift;
}

/* Packs what double_unpack gives. Only subnormal results need rounding. */
static double double_pack(uint64_t sign, int exponent, uint64_t significand)
{
    if (exponent >= TOP) return double_of(sign | (uint64_t)TOP << FRACTION);
    if (exponent > 0)
        return double_of(sign | (((uint64_t)(exponent - 1) << FRACTION) + significand));
    int shift = 1 - exponent;
    if (shift > FRACTION + 1) return double_of(sign);
    uint64_t half = UINT64_C(1) << (shift - 1), below = significand & (2 * half - 1);
    significand >>= shift;
    if (below > half || (below == half && significand & 1)) significand++;
    return double_of(sign | significand);
}

/* Tells whether a number is neither zero, infinite nor NaN. */
static int double_is_ordinary(uint64_t bits) { return bits << 1 && exponent_of(bits) != TOP; }

double frexp(double x, int *exponent)
{
    uint64_t bits = bits_of(x), significand;
    *exponent = 0;
    if (!double_is_ordinary(bits)) return x;
    *exponent = double_unpack(bits, &significand) - BIAS + 1;
    return double_pack(bits & sign_bit, BIAS - 1, significand);
}

double ldexp(double x, int exponent)
{
    uint64_t bits = bits_of(x), significand;
    if (!double_is_ordinary(bits)) return x;
    if (exponent > 5000) exponent = 5000;
    if (exponent < -5000) exponent = -5000;
    exponent += double_unpack(bits, &significand);
    return double_pack(bits & sign_bit, exponent, significand);
}

double scalbn(double x, int exponent) { return ldexp(x, exponent); }

double fmod(double x, double y)
{
    uint64_t a = bits_of(x), b = bits_of(y), sa, sb;
    if (isnan(x) || isnan(y) || isinf(x) || !(b << 1)) return NAN;
    if (isinf(y) || !(a << 1)) return x;
    int ea = double_unpack(a, &sa), eb = double_unpack(b, &sb);
    for (; ea > eb; ea--) sa = (sa >= sb ? sa - sb : sa) << 1;
    if (ea < eb) return x;
    if (sa >= sb) sa -= sb;
    if (!sa) return double_of(a & sign_bit);
    int shift = __builtin_clzll(sa) - (63 - FRACTION);
    return double_pack(a & sign_bit, ea - shift, sa << shift);
}

/* Computes the root bit by bit. The significand is extended to 109 or 110 bits, so that the root
 * has 55: two more than the result, for rounding. */
double sqrt(double x)
{
    uint64_t bits = bits_of(x), significand, root = 0;
    if (!(bits << 1) || isnan(x) || (isinf(x) && !(bits >> 63))) return x;
    if (bits >> 63) return NAN;
    int exponent = double_unpack(bits, &significand) - BIAS;
    if (exponent & 1) {
        significand <<= 1;
        exponent--;
    }
    /* The significand is multiplied by 2^56. */
    uint64_t high = significand >> 8, low = significand << 56;
    uint64_t rest = 0;
    for (int i = 0; i < 64; i++) { /* Two bits of the number give one bit of the root. */
        rest = rest << 2 | high >> 62;
        high = high << 2 | low >> 62;
        low <<= 2;
        uint64_t trial = root << 2 | 1;
        root <<= 1;
        if (rest >= trial) {
            rest -= trial;
            root |= 1;
        }
    }
    /* Here root = floor(sqrt(significand * 2^56)), and its leading one is at bit 54. */
    uint64_t below = root & 3;
    root >>= 2;
    if (below == 3 || (below == 2 && (rest || root & 1))) root++;
    return double_pack(0, exponent / 2 + BIAS, root);
}

double fmin(double x, double y) { return isnan(x) ? y : isnan(y) || x < y ? x : y; }
double fmax(double x, double y) { return isnan(x) ? y : isnan(y) || x > y ? x : y; }
