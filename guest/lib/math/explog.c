/* Implements exponentials and logarithms. Their errors are below 0.51 units in the last place. */
#include <math.h>
#include "math/real.h"

/* ln 2 as a fraction of 2^128 */
static const uint64_t ln2_high = 0xb17217f7d1cf79ab, ln2_low = 0xc9e3b39803f2f6af;
/* log2(e) as a fraction of 2^63 */
static const uint64_t log2_e = 0xb8aa3b295c17f0bc;

/* Computes e^(r / 2^64) for r / 2^64 below ln 2 by the Taylor series, all terms of which are
 * positive. */
static struct real exp_fraction(uint64_t r, int exponent)
{
    uint64_t sum = penta_inverse_factorial[20];
    for (int n = 19; n >= 2; n--) sum = penta_inverse_factorial[n] + fraction_times(r, sum);
    sum = r + fraction_times(fraction_times(r, r), sum); /* The sum is e^r - 1. */
    return (struct real){UINT64_C(1) << 63 | sum >> 1, exponent, false};
}

struct real penta_real_exp2(int whole, uint64_t fraction)
{
    return exp_fraction(fraction_times(fraction, ln2_high), whole);
}

struct real penta_real_exp(struct real x)
{
    /* |x| is whole + fraction / 2^64. */
    uint64_t whole = 0, fraction = 0, low;
    if (x.exponent < 0) {
        fraction = x.significand ? penta_real_fraction(x) : 0;
    } else {
        whole = x.significand >> (63 - x.exponent);
        fraction = x.significand << x.exponent << 1;
    }
    /* Subtracts q * ln 2. q is the largest multiple that fits, or off by one. */
    uint64_t q = fraction_times(whole << 52 | fraction >> 12, log2_e) >> 51;
    uint64_t high = wide_mul(q, ln2_high, &low), more = fraction_times(q, ln2_low);
    low += more;
    high += low < more;
    whole -= high + (fraction < low);
    fraction -= low;
    if (whole >> 63) { /* The difference is below zero. */
        q--;
        fraction += ln2_high;
    } else if (fraction >= ln2_high) {
        q++;
        fraction -= ln2_high;
    }
    if (!x.negative) return exp_fraction(fraction, (int)q);
    if (!fraction) return exp_fraction(0, -(int)q);
    return exp_fraction(ln2_high - fraction, -(int)q - 1);
}

/* Computes x (1 + x/2! + x^2/3! + ...) for small x. */
struct real penta_real_expm1(struct real x)
{
    if (x.exponent >= -1) return real_sub(penta_real_exp(x), REAL_ONE);
    if (!x.significand) return x;
    uint64_t a = penta_real_fraction(x), sum = penta_inverse_factorial[18];
    for (int n = 17; n >= 2; n--) {
        uint64_t product = fraction_times(a, sum);
        sum = x.negative ? penta_inverse_factorial[n] - product
                         : penta_inverse_factorial[n] + product;
    }
    struct real rest = penta_real_make(x.negative, fraction_times(a, sum), -1);
    return penta_real_mul(x, penta_real_add(REAL_ONE, rest));
}

static bool is_nan(double x) { return x != x; }
static const double infinity = __builtin_inf();

double exp(double x)
{
    if (is_nan(x)) return x;
    if (x > 710) return infinity;
    if (x < -746) return 0;
    return penta_real_round(penta_real_exp(penta_real_of(x)));
}

double exp2(double x)
{
    if (is_nan(x)) return x;
    if (x >= 1024) return infinity;
    if (x < -1076) return 0;
    struct real a = real_abs(penta_real_of(x));
    int whole = (int)fabs(x);
    uint64_t fraction = 0;
    if (a.significand)
        fraction = a.exponent < 0 ? penta_real_fraction(a) : a.significand << a.exponent << 1;
    if (x < 0) {
        whole = -whole - (fraction != 0);
        fraction = 0 - fraction;
    }
    return penta_real_round(penta_real_exp2(whole, fraction));
}

double expm1(double x)
{
    if (is_nan(x) || x == 0) return x;
    if (x > 710) return infinity;
    if (x < -40) return -1;
    return penta_real_round(penta_real_expm1(penta_real_of(x)));
}

/* Computes 2 atanh(s) = 2 s (1 + s^2/3 + s^4/5 + ...), for |s| below 0.18. */
static struct real twice_atanh(struct real s)
{
    if (!s.significand) return s;
    struct real square = penta_real_mul(s, s);
    uint64_t z = penta_real_fraction(square), sum = 0;
    for (unsigned n = 29; n >= 3; n -= 2) sum = fraction_times(z, UINT64_MAX / n + sum);
    return real_scale(penta_real_add(s, penta_real_mul(s, penta_real_make(false, sum, -1))), 1);
}

struct real penta_real_log_split(struct real x, int *exponent)
{
    *exponent = x.exponent;
    x.exponent = 0;
    if (x.significand > 0xb504f333f9de6484) { /* The constant is the square root of 2. */
        ++*exponent;
        x.exponent = -1;
    }
    return twice_atanh(penta_real_div(real_sub(x, REAL_ONE), penta_real_add(x, REAL_ONE)));
}

static struct real whole_number(int n)
{
    return penta_real_make(n < 0, n < 0 ? 0 - (uint64_t)n : (uint64_t)n, 63);
}

struct real penta_real_log(struct real x)
{
    int exponent;
    struct real part = penta_real_log_split(x, &exponent);
    return penta_real_add(penta_real_mul(whole_number(exponent), REAL_LN2), part);
}

struct real penta_real_log1p(struct real x)
{
    if (x.exponent >= -2) return penta_real_log(penta_real_add(REAL_ONE, x));
    return twice_atanh(penta_real_div(x, penta_real_add(REAL_TWO, x)));
}

/* Handles zero, negative numbers, infinity and NaN: returns true, and *result is the logarithm. */
static bool log_special(double x, double *result)
{
    if (is_nan(x) || x == infinity)
        *result = x;
    else if (x == 0)
        *result = -infinity;
    else if (x < 0)
        *result = NAN;
    else
        return false;
    return true;
}

double log(double x)
{
    double result;
    return log_special(x, &result) ? result : penta_real_round(penta_real_log(penta_real_of(x)));
}

double log2(double x)
{
    double result;
    int exponent;
    if (log_special(x, &result)) return result;
    struct real part = penta_real_log_split(penta_real_of(x), &exponent);
    return penta_real_round(penta_real_add(whole_number(exponent),
                                           penta_real_mul(part, (struct real){log2_e, 0, false})));
}

double log10(double x)
{
    static const struct real log10_e = {0xde5bd8a937287195, -2, false};
    double result;
    return log_special(x, &result)
               ? result
               : penta_real_round(penta_real_mul(penta_real_log(penta_real_of(x)), log10_e));
}

double log1p(double x)
{
    if (is_nan(x) || x == infinity || x == 0) return x;
    if (x == -1) return -infinity;
    return x < -1 ? NAN : penta_real_round(penta_real_log1p(penta_real_of(x)));
}

double sinh(double x)
{
    if (is_nan(x) || x == 0) return x;
    if (fabs(x) > 711) return copysign(infinity, x);
    struct real e = penta_real_expm1(real_abs(penta_real_of(x)));
    struct real sum =
        real_scale(penta_real_add(e, penta_real_div(e, penta_real_add(e, REAL_ONE))), -1);
    return copysign(penta_real_round(sum), x);
}

double cosh(double x)
{
    if (is_nan(x)) return x;
    if (fabs(x) > 711) return infinity;
    struct real e = penta_real_exp(penta_real_of(x));
    return penta_real_round(real_scale(penta_real_add(e, penta_real_div(REAL_ONE, e)), -1));
}

double tanh(double x)
{
    if (is_nan(x) || x == 0) return x;
    if (fabs(x) > 22) return copysign(1, x);
    struct real e = penta_real_expm1(real_scale(real_abs(penta_real_of(x)), 1));
    return copysign(penta_real_round(penta_real_div(e, penta_real_add(e, REAL_TWO))), x);
}

/* Computes log(x + sqrt(x^2 + 1)) as log1p of x + x^2 / (1 + sqrt(x^2 + 1)). */
double asinh(double x)
{
    if (is_nan(x) || x == 0 || fabs(x) == infinity) return x;
    struct real a = real_abs(penta_real_of(x)), square = penta_real_mul(a, a);
    struct real root = penta_real_sqrt(penta_real_add(square, REAL_ONE));
    struct real sum = penta_real_add(a, penta_real_div(square, penta_real_add(REAL_ONE, root)));
    return copysign(penta_real_round(penta_real_log1p(sum)), x);
}

/* Computes log1p of t + sqrt(2t + t^2), with t = x - 1. */
double acosh(double x)
{
    if (is_nan(x) || x == infinity) return x;
    if (x < 1) return NAN;
    struct real t = real_sub(penta_real_of(x), REAL_ONE);
    struct real root = penta_real_sqrt(penta_real_add(real_scale(t, 1), penta_real_mul(t, t)));
    return penta_real_round(penta_real_log1p(penta_real_add(t, root)));
}

double atanh(double x)
{
    if (is_nan(x) || x == 0) return x;
    if (fabs(x) == 1) return copysign(infinity, x);
    if (fabs(x) > 1) return NAN;
    struct real a = real_abs(penta_real_of(x));
    struct real part = penta_real_log1p(penta_real_div(real_scale(a, 1), real_sub(REAL_ONE, a)));
    return copysign(penta_real_round(real_scale(part, -1)), x);
}

/* The exponent is divided exactly, so the logarithm is below 2.1. */
double cbrt(double x)
{
    if (is_nan(x) || x == 0 || fabs(x) == infinity) return x;
    struct real a = real_abs(penta_real_of(x));
    int third = (a.exponent + 3000) / 3 - 1000;
    a.exponent -= 3 * third;
    struct real part =
        penta_real_div(penta_real_log(a), (struct real){UINT64_C(3) << 62, 1, false});
    return copysign(penta_real_round(real_scale(penta_real_exp(part), third)), x);
}

double hypot(double x, double y)
{
    if (fabs(x) == infinity || fabs(y) == infinity) return infinity;
    if (is_nan(x) || is_nan(y)) return NAN;
    struct real a = penta_real_of(x), b = penta_real_of(y);
    return penta_real_round(
        penta_real_sqrt(penta_real_add(penta_real_mul(a, a), penta_real_mul(b, b))));
}
