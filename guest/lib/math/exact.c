/* Implements more functions with exact or correctly rounded results. bits.c has the others. */
#include <limits.h>
#include <math.h>
#include "math/real.h"

static bool is_nan(double x) { return x != x; }
static const double infinity = __builtin_inf();

double rint(double x)
{
    double limit = copysign(0x1p52, x); /* A sum with `limit` has no fraction. */
    return fabs(x) < 0x1p52 ? copysign(x + limit - limit, x) : x;
}

double nearbyint(double x) { return rint(x); }
long lrint(double x) { return (long)rint(x); }
long long llrint(double x) { return (long long)rint(x); }
long lround(double x) { return (long)round(x); }
long long llround(double x) { return (long long)round(x); }

double nextafter(double x, double y)
{
    uint64_t bits = double_bits(x);
    if (is_nan(x) || is_nan(y)) return NAN;
    if (x == y) return y;
    if (x == 0) return copysign(0x1p-1074, y);
    return double_from((x < y) == (x > 0) ? bits + 1 : bits - 1);
}

double logb(double x)
{
    if (is_nan(x)) return x;
    if (fabs(x) == infinity) return infinity;
    return x == 0 ? -infinity : penta_real_of(x).exponent;
}

int ilogb(double x)
{
    if (is_nan(x)) return FP_ILOGBNAN;
    if (fabs(x) == infinity) return INT_MAX;
    return x == 0 ? FP_ILOGB0 : penta_real_of(x).exponent;
}

double scalbln(double x, long exponent)
{
    return ldexp(x, exponent > 10000 ? 10000 : exponent < -10000 ? -10000 : (int)exponent);
}

double fdim(double x, double y)
{
    if (is_nan(x) || is_nan(y)) return NAN;
    return x > y ? x - y : 0;
}

/* Computes x - n y, where n is the integer nearest to x / y, or the even one of two. *quotient
 * gets the lowest bits of n. x and y are not negative, and 8 y is finite. */
static double nearest_remainder(double x, double y, unsigned *quotient)
{
    double rest = fmod(x, 8 * y);
    *quotient = 0;
    for (unsigned bit = 4; bit; bit >>= 1)
        if (rest >= bit * y) {
            rest -= bit * y;
            *quotient += bit;
        }
    double less = y - rest; /* The difference is exact if it is near `rest`. */
    if (rest > less || (rest == less && *quotient & 1)) {
        rest -= y;
        ++*quotient;
    }
    return rest;
}

double remquo(double x, double y, int *quotient)
{
    unsigned n;
    *quotient = 0;
    if (is_nan(x) || is_nan(y) || fabs(x) == infinity || y == 0) return NAN;
    if (fabs(y) == infinity) return x;
    double a = fabs(x), b = fabs(y), rest;
    if (b < 0x1p1000)
        rest = nearest_remainder(a, b, &n);
    else if (a > 1) /* The scaled numbers are exact and smaller. */
        rest = nearest_remainder(a * 0x1p-10, b * 0x1p-10, &n) * 0x1p10;
    else
        rest = a, n = 0;
    n &= 7;
    *quotient = (x < 0) != (y < 0) ? -(int)n : (int)n;
    if (rest == 0) return copysign(0, x);
    return x < 0 ? -rest : rest;
}

double remainder(double x, double y)
{
    int quotient;
    return remquo(x, y, &quotient);
}

struct long_number { /* A number of 128 bits with the leading one at bit 125. */
    uint64_t high, low;
    int exponent; /* the exponent of bit 125 */
    bool negative;
};

static struct long_number long_number_normal(bool negative, uint64_t high, uint64_t low,
                                             int exponent)
{
    struct long_number n = {high, low, exponent, negative};
    if (!n.high) {
        n.high = n.low;
        n.low = 0;
        n.exponent -= 64;
    }
    int shift = __builtin_clzll(n.high) - 2;
    n.exponent -= shift;
    if (shift > 0) {
        n.high = n.high << shift | n.low >> (64 - shift);
        n.low <<= shift;
    } else if (shift < 0) {
        bool lost = n.low & ((UINT64_C(1) << -shift) - 1);
        n.low = n.low >> -shift | n.high << (64 + shift) | lost;
        n.high >>= -shift;
    }
    return n;
}

/* Shifts a number down. Sets its bit 0 if any bit that is lost was set. */
static void shift_down(struct long_number *n, int count)
{
    bool lost = false;
    for (; count > 0; count -= 63) {
        int part = count < 63 ? count : 63;
        lost |= (n->low & ((UINT64_C(1) << part) - 1)) != 0;
        n->low = n->low >> part | n->high << (64 - part);
        n->high >>= part;
        if (!n->high && !n->low) break;
    }
    n->low |= lost;
}

static double add_long(struct long_number a, struct long_number b)
{
    if (a.exponent < b.exponent ||
        (a.exponent == b.exponent && (a.high < b.high || (a.high == b.high && a.low < b.low)))) {
        struct long_number t = a;
        a = b;
        b = t;
    }
    shift_down(&b, a.exponent - b.exponent);
    if (a.negative == b.negative) {
        a.low += b.low;
        a.high += b.high + (a.low < b.low);
    } else {
        a.high -= b.high + (a.low < b.low);
        a.low -= b.low;
    }
    if (!a.high && !a.low) return 0;
    a = long_number_normal(a.negative, a.high, a.low, a.exponent);
    /* `top` is the highest 64 of 126 bits. Its lowest bit is also set if any lower bit is. */
    uint64_t top = a.high << 2 | a.low >> 62;
    return penta_real_round((struct real){top | (a.low << 2 != 0), a.exponent, a.negative});
}

double fma(double x, double y, double z)
{
    uint64_t low, high;
    if (is_nan(x) || is_nan(y) || is_nan(z)) return NAN;
    if (fabs(x) == infinity || fabs(y) == infinity || x == 0 || y == 0) return x * y + z;
    if (fabs(z) == infinity) return z;
    struct real a = penta_real_of(x), b = penta_real_of(y), c = penta_real_of(z);
    high = wide_mul(a.significand, b.significand, &low);
    struct long_number p =
        long_number_normal(a.negative != b.negative, high, low, a.exponent + b.exponent - 1);
    if (!c.significand) return add_long(p, (struct long_number){0, 0, p.exponent, p.negative});
    return add_long(
        p, long_number_normal(c.negative, c.significand >> 2, c.significand << 62, c.exponent));
}
