/* Implements the functions for float. They are computed in double and rounded, with errors below
 * 0.51 units in the last place of a float. Functions that are exact for double are exact here. */
#include <math.h>
#include "math/real.h"

#define ONE(name)                                                                                  \
    float name##f(float x) { return (float)name(x); }
#define TWO(name)                                                                                  \
    float name##f(float x, float y) { return (float)name(x, y); }

ONE(fabs)
ONE(floor)
ONE(ceil)
ONE(trunc)
ONE(round)
ONE(rint)
ONE(nearbyint)
ONE(sqrt)
ONE(cbrt)
ONE(exp)
ONE(exp2)
ONE(expm1)
ONE(log)
ONE(log2)
ONE(log10)
ONE(log1p)
ONE(logb)
ONE(sin)
ONE(cos)
ONE(tan)
ONE(asin)
ONE(acos)
ONE(atan)
ONE(sinh)
ONE(cosh)
ONE(tanh)
ONE(asinh)
ONE(acosh)
ONE(atanh)
ONE(erf)
ONE(erfc)
ONE(lgamma)
ONE(tgamma)

TWO(copysign)
TWO(fmod)
TWO(remainder)
TWO(fmin)
TWO(fmax)
TWO(fdim)
TWO(pow)
TWO(hypot)
TWO(atan2)

long lrintf(float x) { return lrint(x); }
long long llrintf(float x) { return llrint(x); }
long lroundf(float x) { return lround(x); }
long long llroundf(float x) { return llround(x); }
int ilogbf(float x) { return ilogb(x); }
float frexpf(float x, int *exponent) { return (float)frexp(x, exponent); }
float ldexpf(float x, int exponent) { return (float)ldexp(x, exponent); }
float scalbnf(float x, int exponent) { return (float)ldexp(x, exponent); }
float scalblnf(float x, long exponent) { return (float)scalbln(x, exponent); }
float remquof(float x, float y, int *quotient) { return (float)remquo(x, y, quotient); }

float modff(float x, float *whole)
{
    double part, rest = modf(x, &part);
    *whole = (float)part;
    return (float)rest;
}

/* The product is exact in doubles. If the sum is not exact, its last bit is set (rounding to
 * odd), so that rounding to a float rounds only once. */
float fmaf(float x, float y, float z)
{
    double product = (double)x * y, sum = product + z;
    if (sum - sum != 0 || product == 0 || z == 0) return (float)sum;
    double part = sum - product, error = (product - (sum - part)) + (z - part);
    uint64_t bits = double_bits(sum);
    if (error != 0 && !(bits & 1)) bits += (error > 0) == (sum > 0) ? 1 : (uint64_t)-1;
    return (float)double_from(bits);
}

float nextafterf(float x, float y)
{
    uint32_t bits;
    if (x != x || y != y) return NAN;
    if (x == y) return y;
    if (x == 0) return copysignf(0x1p-149f, y);
    __builtin_memcpy(&bits, &x, sizeof bits);
    bits += (x < y) == (x > 0) ? 1 : (uint32_t)-1;
    __builtin_memcpy(&x, &bits, sizeof x);
    return x;
}

/* The payload of a NaN is not kept. */
double nan(const char *text) { return (void)text, NAN; }
float nanf(const char *text) { return (void)text, NAN; }
