/* Implements the error functions by a series whose terms all have one sign and, for larger
 * arguments, by a continued fraction. */
#include <math.h>
#include "math/gamma.h"
#include "math/long_real.h"

/* Computes 2 / sqrt(pi) e^(-x^2) (x + 2 x^3 / 3 + 4 x^5 / (3 5) + ...), for x >= 0. */
static struct long_real erf_series(struct long_real x)
{
    struct long_real twice = long_scale(penta_long_mul(x, x), 1), term = x, sum = x;
    for (int n = 3; term.significand && term.exponent > sum.exponent - 130; n += 2) {
        term = penta_long_div(penta_long_mul(term, twice), penta_long_of_int(n));
        sum = penta_long_add(sum, term);
    }
    struct long_real factor = LONG_CONSTANT(0x906eba8214db688d, 0x71d48a7f6bfec344, 0);
    return penta_long_mul(penta_long_mul(factor, penta_long_exp_square(x)), sum);
}

/* Computes e^(-x^2) / sqrt(pi) / (x + (1/2) / (x + (2/2) / (x + (3/2) / (x + ...)))), for x >=
 * 2. */
static struct long_real erfc_fraction(struct long_real x)
{
    double size = penta_long_round_double(x);
    int depth = 16 + (int)(1200 / (size * size));
    struct long_real t = x;
    for (int n = depth; n; n--)
        t = penta_long_add(x, penta_long_div(long_scale(penta_long_of_int(n), -1), t));
    struct long_real factor = LONG_CONSTANT(0x906eba8214db688d, 0x71d48a7f6bfec344, -1);
    return penta_long_div(penta_long_mul(factor, penta_long_exp_square(x)), t);
}

static bool erf_large(struct long_real x) { return x.significand && x.exponent >= 1; }

struct long_real penta_long_erf(struct long_real x)
{
    struct long_real a = long_abs(x), result = a;
    if (a.significand) /* Above 16 the result is 1 in all bits that a result has. */
        result = a.exponent >= 4 ? LONG_ONE
                 : erf_large(a)  ? penta_long_sub(LONG_ONE, erfc_fraction(a))
                                 : erf_series(a);
    result.negative = x.negative;
    return result;
}

struct long_real penta_long_erfc(struct long_real x)
{
    if (erf_large(x) && !x.negative) return erfc_fraction(x);
    return penta_long_sub(LONG_ONE, penta_long_erf(x));
}

double erf(double x)
{
    if (isnan(x) || x == 0) return x;
    if (fabs(x) > 7) return copysign(1, x);
    return penta_long_round_double(penta_long_erf(penta_long_of_double(x)));
}

double erfc(double x)
{
    if (isnan(x)) return x;
    if (x > 28) return 0;
    if (x < -7) return 2;
    return penta_long_round_double(penta_long_erfc(penta_long_of_double(x)));
}
