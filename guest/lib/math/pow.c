/* Implements pow as x^y = 2^(y log2 x). The logarithm has 128 bits after the point, because y
 * multiplies its error. The error of the result is below 0.51 units in the last place. */
#include <math.h>
#include "math/real.h"

struct wide { /* A fraction of 2^128. */
    uint64_t high, low;
};

static struct wide wide_add(struct wide a, struct wide b)
{
    uint64_t low = a.low + b.low;
    return (struct wide){a.high + b.high + (low < a.low), low};
}

static struct wide wide_times(struct wide a, struct wide b)
{
    uint64_t low, unused, high = wide_mul(a.high, b.high, &low);
    uint64_t first = wide_mul(a.high, b.low, &unused), second = wide_mul(a.low, b.high, &unused);
    return wide_add((struct wide){high, low},
                    wide_add((struct wide){0, first}, (struct wide){0, second}));
}

/* Returns n / d, for n < d. */
static struct wide wide_quotient(uint64_t n, uint64_t d)
{
    uint64_t rest, high = wide_div(n, 0, d, &rest);
    return (struct wide){high, wide_div(rest, 0, d, &rest)};
}

/* Computes log2 x for x > 0. It is *whole plus the result, or minus the result if *negative; the
 * result is at most 1/2. With m the significand and s = (m - 1) / (m + 1), ln m = 2 s (1 + s^2/3
 * + s^4/5 + ...). */
static struct wide log2_wide(struct real x, int *whole, bool *negative)
{
    static const struct wide above_two = {0xe2a8eca5705fc2ee,
                                          0xfa1ffb41a474fa23}; /* The constant is 2 / ln 2 - 2. */
    uint64_t m = x.significand >> 11, one = UINT64_C(1) << 52;
    *whole = x.exponent;
    if (x.significand > 0xb504f333f9de6484) { /* The constant is the square root of 2. */
        ++*whole;
        one <<= 1;
    }
    *negative = m < one;
    struct wide s = wide_quotient(*negative ? one - m : m - one, one + m);
    struct wide z = wide_times(s, s), sum = {0, 0};
    for (unsigned n = 35; n >= 3; n -= 2) sum = wide_times(z, wide_add(wide_quotient(1, n), sum));
    s = wide_add(s, wide_times(s, sum));
    return wide_add(wide_add(s, s), wide_times(s, above_two));
}

/* Computes |y| (whole +- part) as an integer and a fraction of 2^64. Returns false if it is 2^12
 * or more. */
static bool exponent_product(struct real y, int whole, struct wide part, bool negative, bool *sign,
                             uint64_t *integer, uint64_t *fraction)
{
    uint64_t t[3] = {part.low, part.high, (uint64_t)whole}, p[4] = {0},
             y_bits = y.significand >> 11;
    if (negative) { /* The number has 192 bits, and the point is after 128. */
        t[0] = 0 - t[0];
        t[1] = ~t[1] + !t[0];
        t[2] -= (part.high | part.low) != 0;
    }
    *sign = t[2] >> 63;
    if (*sign) {
        t[0] = 0 - t[0];
        t[1] = ~t[1] + !t[0];
        t[2] = ~t[2] + !(t[0] | t[1]);
    }
    for (int i = 0; i < 3; i++) {
        uint64_t low, high = wide_mul(y_bits, t[i], &low);
        p[i] += low;
        p[i + 1] = high + (p[i] < low);
    }
    /* p * 2^(exponent - 52 - 128) is shifted so that 64 bits are after the point. */
    int shift = 64 + 52 - y.exponent, top = 3;
    while (top && !p[top]) top--;
    if (!p[top]) {
        *integer = *fraction = 0;
        return true;
    }
    int bits = 64 * top + 64 - __builtin_clzll(p[top]);
    if (bits - shift > 64 + 12) return false;
    *integer = *fraction = 0;
    if (bits <= shift) return true;
    for (int i = 0; i < 4; i++) { /* Word i starts at bit 64 i - shift of the result. */
        int at = 64 * i - shift;
        if (at <= -64 || at >= 128) continue;
        if (at < 0) {
            *fraction |= p[i] >> -at;
        } else if (at < 64) {
            *fraction |= p[i] << at;
            if (at) *integer |= p[i] >> (64 - at);
        } else {
            *integer |= p[i] << (at - 64);
        }
    }
    return true;
}

enum { NOT_WHOLE, EVEN, ODD };

static int exponent_parity(double y)
{
    if (fabs(y) >= 0x1p53) return EVEN;
    if (y != trunc(y)) return NOT_WHOLE;
    return (int64_t)y & 1 ? ODD : EVEN;
}

static const double infinity = __builtin_inf();

/* Computes the power where y is infinite, or x is zero or infinite. */
static double pow_of_extremes(double x, double y, bool negative)
{
    double a = fabs(x);
    bool large;
    if (fabs(y) == infinity) {
        if (a == 1) return 1;
        return (a > 1) == (y > 0) ? infinity : 0;
    }
    large = (a == infinity) == (y > 0);
    return copysign(large ? infinity : 0, negative ? -1.0 : 1.0);
}

double pow(double x, double y)
{
    uint64_t integer, fraction;
    int whole;
    bool below_one, sign;
    if (y == 0 || x == 1) return 1;
    if (x != x || y != y) return NAN;
    bool negative = double_bits(x) >> 63 && exponent_parity(y) == ODD;
    if (fabs(y) == infinity || x == 0 || fabs(x) == infinity)
        return pow_of_extremes(x, y, negative);
    if (x < 0 && exponent_parity(y) == NOT_WHOLE) return NAN;
    struct wide part = log2_wide(real_abs(penta_real_of(x)), &whole, &below_one);
    bool fits =
        exponent_product(penta_real_of(y), whole, part, below_one, &sign, &integer, &fraction);
    struct real result;
    if (sign != (y < 0)) { /* The exponent is negative. */
        whole = fits ? -(int)integer - (fraction != 0) : -5000;
        result = penta_real_exp2(whole, fits ? 0 - fraction : 0);
    } else {
        result = penta_real_exp2(fits ? (int)integer : 5000, fits ? fraction : 0);
    }
    result.negative = negative;
    return penta_real_round(result);
}
