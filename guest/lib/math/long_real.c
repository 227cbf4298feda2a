/* Implements arithmetic with 128 bits of significand, and exponentials and logarithms. */
#include "math/long_real.h"
#include <math.h>
#include "math/real.h"

enum { FRACTION_BITS = 112, QUAD_BIAS = 16383, QUAD_TOP = 32767 };

static int long_zeros(quad_bits x)
{
    uint64_t high = wider_high(x);
    return high ? __builtin_clzll(high) : 64 + __builtin_clzll((uint64_t)x);
}

struct long_real penta_long_make(bool negative, quad_bits significand, int exponent)
{
    if (!significand) return (struct long_real){0, 0, negative};
    int shift = long_zeros(significand);
    return (struct long_real){significand << shift, exponent - shift, negative};
}

struct long_real penta_long_of(quad x)
{
    quad_bits bits, fraction;
    __builtin_memcpy(&bits, &x, sizeof bits);
    fraction = bits & (((quad_bits)1 << FRACTION_BITS) - 1);
    int exponent = (int)(bits >> FRACTION_BITS & QUAD_TOP);
    if (exponent) fraction |= (quad_bits)1 << FRACTION_BITS;
    return penta_long_make(bits >> 127 != 0, fraction,
                           (exponent ? exponent : 1) - QUAD_BIAS + 127 - FRACTION_BITS);
}

struct long_real penta_long_of_double(double x)
{
    struct real a = penta_real_of(x);
    return (struct long_real){(quad_bits)a.significand << 64, a.exponent, a.negative};
}

struct long_real penta_long_of_int(int64_t n)
{
    return penta_long_make(n < 0, n < 0 ? 0 - (uint64_t)n : (uint64_t)n, 127);
}

quad penta_long_round(struct long_real a)
{
    quad_bits bits = 0, sign = (quad_bits)a.negative << 127;
    int biased = a.exponent + QUAD_BIAS, drop = 127 - FRACTION_BITS;
    quad result;
    if (a.significand && biased >= QUAD_TOP) {
        bits = (quad_bits)QUAD_TOP << FRACTION_BITS;
    } else if (a.significand) {
        if (biased <= 0) {
            drop += 1 - biased;
            biased = 0;
        }
        if (drop <= 128) {
            quad_bits half = (quad_bits)1 << (drop - 1);
            quad_bits kept = drop == 128 ? 0 : a.significand >> drop;
            quad_bits below = drop == 128 ? a.significand : a.significand & (2 * half - 1);
            if (below > half || (below == half && kept & 1)) kept++;
            bits = (biased ? (quad_bits)(unsigned)(biased - 1) << FRACTION_BITS : 0) + kept;
        }
    }
    bits |= sign;
    __builtin_memcpy(&result, &bits, sizeof result);
    return result;
}

double penta_long_round_double(struct long_real a)
{
    uint64_t high = wider_high(a.significand); /* The lowest bit of `high` also stands for the
                                                * bits that are lost. */
    return penta_real_round(
        (struct real){high | ((uint64_t)a.significand != 0), a.exponent, a.negative});
}

quad_bits penta_long_fraction(struct long_real a)
{
    int shift = -1 - a.exponent;
    return shift > 127 ? 0 : a.significand >> shift;
}

/* Returns high + low / 2^128, rounded to 128 bits. */
static struct long_real round_up(bool negative, quad_bits high, quad_bits low, int exponent)
{
    if (low >> 127 && !++high)
        return (struct long_real){(quad_bits)1 << 127, exponent + 1, negative};
    return (struct long_real){high, exponent, negative};
}

int penta_long_compare(struct long_real a, struct long_real b)
{
    if (!a.significand || !b.significand) return (a.significand != 0) - (b.significand != 0);
    if (a.exponent != b.exponent) return a.exponent < b.exponent ? -1 : 1;
    return a.significand < b.significand ? -1 : a.significand > b.significand;
}

struct long_real penta_long_add(struct long_real a, struct long_real b)
{
    if (penta_long_compare(a, b) < 0) {
        struct long_real t = a;
        a = b;
        b = t;
    }
    int distance = a.exponent - b.exponent;
    if (!b.significand || distance > 254) return a;
    quad_bits high = a.significand, low = 0, bh = 0, bl = 0;
    if (distance >= 128) {
        bl = b.significand >> (distance - 128);
    } else {
        bh = b.significand >> distance;
        bl = distance ? b.significand << (128 - distance) : 0;
    }
    if (a.negative == b.negative) {
        low = bl;
        high += bh;
        if (high < bh) { /* The addition had a carry. */
            low = low >> 1 | high << 127;
            high = high >> 1 | (quad_bits)1 << 127;
            a.exponent++;
        }
        return round_up(a.negative, high, low, a.exponent);
    }
    high -= bh + (bl != 0);
    low = 0 - bl;
    if (!high) return penta_long_make(a.negative, low, a.exponent - 128);
    int shift = long_zeros(high);
    if (shift) {
        high = high << shift | low >> (128 - shift);
        low <<= shift;
    }
    return round_up(a.negative, high, low, a.exponent - shift);
}

struct long_real penta_long_sub(struct long_real a, struct long_real b)
{
    return penta_long_add(a, long_negate(b));
}

struct long_real penta_long_mul(struct long_real a, struct long_real b)
{
    quad_bits low, high = wider_mul(a.significand, b.significand, &low);
    int exponent = a.exponent + b.exponent + 1;
    if (!high) return (struct long_real){0, 0, a.negative != b.negative};
    if (!(high >> 127)) {
        high = high << 1 | low >> 127;
        low <<= 1;
        exponent--;
    }
    return round_up(a.negative != b.negative, high, low, exponent);
}

struct long_real penta_long_div(struct long_real a, struct long_real b)
{
    quad_bits rest, quotient;
    int exponent = a.exponent - b.exponent;
    if (!a.significand) return (struct long_real){0, 0, a.negative != b.negative};
    if (a.significand < b.significand) {
        quotient = wider_div(a.significand, 0, b.significand, &rest);
        exponent--;
    } else {
        quotient = wider_div(a.significand >> 1, a.significand << 127, b.significand, &rest);
    }
    quad_bits low = rest >= b.significand - rest ? (quad_bits)1 << 127 : 0;
    return round_up(a.negative != b.negative, quotient, low, exponent);
}

/* The root in double has 53 correct bits; each step of Newton's method doubles them. */
struct long_real penta_long_sqrt(struct long_real a)
{
    if (!a.significand) return a;
    int odd = a.exponent & 1, half = (a.exponent - odd) / 2;
    a.exponent = odd;
    struct long_real root = penta_long_of_double(sqrt(penta_long_round_double(a)));
    for (int i = 0; i < 2; i++)
        root = long_scale(penta_long_add(root, penta_long_div(a, root)), -1);
    return long_scale(root, half);
}

static quad_bits long_times(quad_bits a, quad_bits b)
{
    quad_bits low;
    return wider_mul(a, b, &low);
}

static quad_bits inverse_factorial(int n)
{
    return wider_join(penta_long_factorial[n][0], penta_long_factorial[n][1]);
}

/* Returns x minus the multiple of ln 2 for which 0 <= result < ln 2, or a little more. */
static struct long_real exp_reduce(struct long_real x, int *multiple)
{
    /* The high part of ln 2 has 112 bits, so that its multiples are exact. */
    static const struct long_constant high = {0xb17217f7d1cf79ab, 0xc9e3b39803f20000, -1, false};
    static const struct long_constant low = {0xf6af40f343267298, 0xb62d8a0d175b8bab, -113, false};
    double q = floor(penta_long_round_double(x) * 1.4426950408889634);
    struct long_real n = penta_long_of_double(q);
    *multiple = (int)q;
    struct long_real r = penta_long_sub(x, penta_long_mul(n, long_real_constant(&high)));
    r = penta_long_sub(r, penta_long_mul(n, long_real_constant(&low)));
    if (r.negative && r.significand) {
        --*multiple;
        r = penta_long_add(r, LONG_LN2);
    }
    return r;
}

struct long_real penta_long_exp(struct long_real x)
{
    int multiple;
    if (!x.significand) return LONG_ONE;
    struct long_real reduced = exp_reduce(x, &multiple);
    if (!reduced.significand) return long_scale(LONG_ONE, multiple);
    quad_bits r = penta_long_fraction(reduced), sum = inverse_factorial(34);
    for (int n = 33; n >= 2; n--) sum = inverse_factorial(n) + long_times(r, sum);
    sum = r + long_times(long_times(r, r), sum); /* The sum is e^r - 1, which may reach 1 by
                                                  * rounding. */
    if (sum < r) return long_scale(LONG_ONE, multiple + 1);
    return (struct long_real){(quad_bits)1 << 127 | sum >> 1, multiple, false};
}

/* Computes x (1 + x/2! + x^2/3! + ...) for small x. */
struct long_real penta_long_expm1(struct long_real x)
{
    if (x.exponent >= -1) return penta_long_sub(penta_long_exp(x), LONG_ONE);
    if (!x.significand) return x;
    quad_bits a = penta_long_fraction(x), sum = inverse_factorial(33);
    for (int n = 32; n >= 2; n--) {
        quad_bits product = long_times(a, sum);
        sum = x.negative ? inverse_factorial(n) - product : inverse_factorial(n) + product;
    }
    struct long_real rest = penta_long_make(x.negative, long_times(a, sum), -1);
    return penta_long_mul(x, penta_long_add(LONG_ONE, rest));
}

struct long_real penta_long_exp_square(struct long_real x)
{
    quad_bits low, high = wider_mul(x.significand, x.significand, &low);
    int exponent = 2 * x.exponent + 1;
    struct long_real rest = penta_long_make(true, low, exponent - 128);
    struct long_real power = penta_long_exp(penta_long_make(true, high, exponent));
    return penta_long_mul(power, penta_long_exp(rest));
}

/* Computes 2 atanh(s) = 2 s (1 + s^2/3 + s^4/5 + ...), for |s| below 0.18. */
static struct long_real twice_atanh(struct long_real s)
{
    if (!s.significand) return s;
    quad_bits z = penta_long_fraction(penta_long_mul(s, s)), sum = 0;
    for (unsigned n = 57; n >= 3; n -= 2) sum = long_times(z, long_inverse(n) + sum);
    return long_scale(penta_long_add(s, penta_long_mul(s, penta_long_make(false, sum, -1))), 1);
}

struct long_real penta_long_log_split(struct long_real x, int *exponent)
{
    *exponent = x.exponent;
    x.exponent = 0;
    if (wider_high(x.significand) > 0xb504f333f9de6484) { /* The constant is the square root of
                                                           * 2. */
        ++*exponent;
        x.exponent = -1;
    }
    return twice_atanh(penta_long_div(penta_long_sub(x, LONG_ONE), penta_long_add(x, LONG_ONE)));
}

struct long_real penta_long_log(struct long_real x)
{
    int exponent;
    struct long_real part = penta_long_log_split(x, &exponent);
    return penta_long_add(penta_long_mul(penta_long_of_int(exponent), LONG_LN2), part);
}

struct long_real penta_long_log1p(struct long_real x)
{
    if (x.significand && x.exponent >= -2) return penta_long_log(penta_long_add(LONG_ONE, x));
    return twice_atanh(penta_long_div(x, penta_long_add(LONG_TWO, x)));
}
