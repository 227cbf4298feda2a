/* Implements the gamma function and its logarithm. Products move arguments up to where
 * Stirling's series is exact to 128 bits, and negative arguments are reflected. */
#include <limits.h>
#include <math.h>
#include "math/gamma.h"
#include "math/long_real.h"

enum { LARGE = 40 }; /* From this argument on, the series of STIRLING_TERMS terms is exact. */

static struct long_real half_log_2pi(void)
{
    return LONG_CONSTANT(0xeb3f8e4325f5a534, 0x94bc900144192024, -1);
}

/* Computes the sum of B(2k) / (2k (2k - 1) z^(2k - 1)). */
static struct long_real stirling_rest(struct long_real z)
{
    struct long_real inverse = penta_long_div(LONG_ONE, z),
                     square = penta_long_mul(inverse, inverse);
    struct long_real sum = long_real_constant(&penta_stirling[STIRLING_TERMS - 1]);
    for (int k = STIRLING_TERMS - 1; k--;)
        sum = penta_long_add(penta_long_mul(sum, square), long_real_constant(&penta_stirling[k]));
    return penta_long_mul(sum, inverse);
}

/* Moves x > 0 up to at least LARGE, with gamma(x) = gamma(result) / *product. */
static struct long_real moved_up(struct long_real x, struct long_real *product)
{
    *product = LONG_ONE;
    while (penta_long_compare(x, penta_long_of_int(LARGE)) < 0) {
        *product = penta_long_mul(*product, x);
        x = penta_long_add(x, LONG_ONE);
    }
    return x;
}

static struct long_real stirling_log(struct long_real z)
{
    struct long_real half = long_scale(LONG_ONE, -1);
    struct long_real power = penta_long_mul(penta_long_sub(z, half), penta_long_log(z));
    struct long_real rest = penta_long_add(half_log_2pi(), stirling_rest(z));
    return penta_long_add(penta_long_sub(power, z), rest);
}

/* Computes log gamma(1 + e) or, with two, log gamma(2 + e), for |e| up to 1/4, because near its
 * zeros the sum above would cancel. The series of the second is (1 - Euler's constant) e + sum
 * of (-e)^k (zeta(k) - 1) / k. */
static struct long_real log_near(struct long_real e, bool two)
{
    struct long_real minus = long_negate(e), sum = long_real_constant(&penta_zeta[ZETA_TERMS - 1]);
    if (!e.significand) return e;
    for (int k = ZETA_TERMS - 1; k--;)
        sum = penta_long_add(penta_long_mul(sum, minus), long_real_constant(&penta_zeta[k]));
    struct long_real first = LONG_CONSTANT(0xd8773039049e70b6, 0x5c8380fdfd5a6953, -2);
    sum = penta_long_mul(e, penta_long_add(first, penta_long_mul(e, sum)));
    return two ? sum : penta_long_sub(sum, penta_long_log1p(e));
}

static struct long_real log_positive(struct long_real x)
{
    for (int n = 1; n <= 2; n++) {
        struct long_real e = penta_long_sub(x, penta_long_of_int(n));
        if (!e.significand || e.exponent < -2) return log_near(e, n == 2);
    }
    struct long_real product, z = moved_up(x, &product);
    return penta_long_sub(stirling_log(z), penta_long_log(product));
}

/* Returns the distance of |x| from the nearest integer. *odd tells whether the integer below |x|
 * is odd. */
static struct long_real to_nearest(struct long_real x, bool *odd)
{
    struct long_real f = long_abs(x);
    *odd = false;
    if (f.exponent >= 127) return (struct long_real){0, 0, false};
    if (f.exponent >= 0) {
        *odd = f.significand >> (127 - f.exponent) & 1;
        f = penta_long_make(false, f.significand << f.exponent << 1, -1);
    }
    if (f.significand && f.exponent == -1) {
        struct long_real other = penta_long_sub(LONG_ONE, f);
        if (penta_long_compare(other, f) < 0) f = other;
    }
    return f;
}

/* Uses gamma(x) gamma(1 - x) = pi / sin(pi x), so that log |gamma(-a)| = log(pi / (a sin(pi a)))
 * - log gamma(a). */
struct long_real penta_long_lgamma(struct long_real x, bool *negative)
{
    *negative = false;
    if (!x.negative) return log_positive(x);
    bool odd;
    struct long_real a = long_abs(x), sine = penta_long_sin_pi(to_nearest(a, &odd));
    *negative = !odd;
    struct long_real quotient = penta_long_div(LONG_PI, penta_long_mul(a, sine));
    return penta_long_sub(penta_long_log(quotient), log_positive(a));
}

static struct long_real gamma_positive(struct long_real x)
{
    struct long_real product, z = moved_up(x, &product);
    return penta_long_div(penta_long_exp(stirling_log(z)), product);
}

struct long_real penta_long_tgamma(struct long_real x)
{
    if (!x.negative) return gamma_positive(x);
    bool odd;
    struct long_real a = long_abs(x), sine = penta_long_sin_pi(to_nearest(a, &odd));
    struct long_real below = penta_long_mul(penta_long_mul(a, sine), gamma_positive(a));
    struct long_real result = penta_long_div(LONG_PI, below);
    result.negative = !odd;
    return result;
}

int signgam;

static double lgamma_sign(double x, int *sign)
{
    bool negative;
    *sign = 1;
    if (isnan(x)) return x;
    if (isinf(x)) return INFINITY;
    if (x == 0) {
        *sign = signbit(x) ? -1 : 1;
        return INFINITY;
    }
    if (x < 0 && floor(x) == x) return INFINITY;
    if (x > 0x1p1020) return INFINITY; /* x log x is infinite, too. */
    double result = penta_long_round_double(penta_long_lgamma(penta_long_of_double(x), &negative));
    if (negative) *sign = -1;
    return result;
}

__attribute__((weak)) double lgamma_r(double x, int *sign) { return lgamma_sign(x, sign); }
double lgamma(double x) { return lgamma_sign(x, &signgam); }

double tgamma(double x)
{
    if (isnan(x)) return x;
    if (x == 0) return copysign(INFINITY, x);
    if (x < 0 && floor(x) == x) return NAN;
    if (x > 172) return INFINITY;
    if (x < -190) return fmod(floor(x), 2) == 0 ? 0.0 : -0.0;
    return penta_long_round_double(penta_long_tgamma(penta_long_of_double(x)));
}
