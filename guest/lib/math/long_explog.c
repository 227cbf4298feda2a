/* Implements exponentials, logarithms, powers, hyperbolic, gamma and error functions of long
 * double. */
#include <math.h>
#include "math/gamma.h"
#include "math/long_functions.h"
#include "math/long_real.h"

static bool quad_is_nan(quad x) { return x != x; }
static bool quad_is_infinite(quad x) { return !quad_is_nan(x) && !penta_quad_finite(x); }
static quad quad_infinity(bool negative)
{
    return negative ? -penta_quad_infinity() : penta_quad_infinity();
}
static struct long_real abs_of(quad x) { return long_abs(penta_long_of(x)); }
static quad with_sign(struct long_real a, quad x)
{
    return penta_quad_copysign(penta_long_round(a), x);
}

quad penta_quad_exp(quad x)
{
    if (quad_is_nan(x)) return x;
    if (x > 11357) return quad_infinity(false);
    if (x < -11434) return 0;
    return penta_long_round(penta_long_exp(penta_long_of(x)));
}

quad penta_quad_exp2(quad x)
{
    if (quad_is_nan(x)) return x;
    if (x >= 16384) return quad_infinity(false);
    if (x < -16500) return 0;
    quad whole = penta_quad_floor(x);
    struct long_real power = penta_long_mul(penta_long_of(x - whole), LONG_LN2);
    return penta_long_round(long_scale(penta_long_exp(power), (int)whole));
}

quad penta_quad_expm1(quad x)
{
    if (quad_is_nan(x) || x == 0) return x;
    if (x > 11357) return quad_infinity(false);
    if (x < -120) return -1;
    return penta_long_round(penta_long_expm1(penta_long_of(x)));
}

/* Handles zero, negative numbers, infinity and NaN: returns true, and *result is the logarithm. */
static bool log_special(quad x, quad *result)
{
    if (quad_is_nan(x) || x == penta_quad_infinity())
        *result = x;
    else if (x == 0)
        *result = quad_infinity(true);
    else if (x < 0)
        *result = penta_quad_nan();
    else
        return false;
    return true;
}

quad penta_quad_log(quad x)
{
    quad result;
    return log_special(x, &result) ? result : penta_long_round(penta_long_log(penta_long_of(x)));
}

quad penta_quad_log2(quad x)
{
    quad result;
    int exponent;
    if (log_special(x, &result)) return result;
    struct long_real part = penta_long_log_split(penta_long_of(x), &exponent);
    part = penta_long_mul(part, LONG_LOG2_E);
    return penta_long_round(penta_long_add(penta_long_of_int(exponent), part));
}

quad penta_quad_log10(quad x)
{
    quad result;
    if (log_special(x, &result)) return result;
    return penta_long_round(penta_long_mul(penta_long_log(penta_long_of(x)), LONG_LOG10_E));
}

quad penta_quad_log1p(quad x)
{
    if (quad_is_nan(x) || x == penta_quad_infinity() || x == 0) return x;
    if (x == -1) return quad_infinity(true);
    if (x < -1) return penta_quad_nan();
    return penta_long_round(penta_long_log1p(penta_long_of(x)));
}

static bool odd_integer(quad y)
{
    struct long_real a = abs_of(y);
    if (!a.significand || a.exponent < 0 || a.exponent > 127) return false;
    return a.significand >> (127 - a.exponent) & 1 && penta_quad_trunc(y) == y;
}

quad penta_quad_pow(quad x, quad y)
{
    if (y == 0 || x == 1) return 1;
    if (quad_is_nan(x) || quad_is_nan(y)) return penta_quad_nan();
    quad a = penta_quad_abs(x);
    bool odd = odd_integer(y), negative = odd && penta_quad_copysign(1, x) < 0;
    if (quad_is_infinite(y)) {
        if (a == 1) return 1;
        return (a > 1) == (y > 0) ? quad_infinity(false) : 0;
    }
    if (x == 0 || quad_is_infinite(x)) {
        quad result = (x == 0) == (y > 0) ? 0 : quad_infinity(false);
        return negative ? -result : result;
    }
    if (x < 0 && penta_quad_trunc(y) != y) return penta_quad_nan();
    if (a == 1) return negative ? -1 : 1;
    struct long_real power = penta_long_mul(penta_long_of(y), penta_long_log(penta_long_of(a)));
    quad result;
    if (power.exponent >= 14)
        result = power.negative ? 0 : quad_infinity(false);
    else
        result = penta_long_round(penta_long_exp(power));
    return negative ? -result : result;
}

quad penta_quad_cbrt(quad x)
{
    if (x == 0 || !penta_quad_finite(x)) return x;
    struct long_real a = abs_of(x);
    int third = (a.exponent + 30000) / 3 - 10000;
    a.exponent -= 3 * third;
    struct long_real part = penta_long_div(penta_long_log(a), penta_long_of_int(3));
    return with_sign(long_scale(penta_long_exp(part), third), x);
}

quad penta_quad_hypot(quad x, quad y)
{
    if (quad_is_infinite(x) || quad_is_infinite(y)) return quad_infinity(false);
    if (quad_is_nan(x) || quad_is_nan(y)) return penta_quad_nan();
    struct long_real a = penta_long_of(x), b = penta_long_of(y);
    return penta_long_round(
        penta_long_sqrt(penta_long_add(penta_long_mul(a, a), penta_long_mul(b, b))));
}

quad penta_quad_sinh(quad x)
{
    if (quad_is_nan(x) || x == 0) return x;
    if (penta_quad_abs(x) > 11358) return penta_quad_copysign(quad_infinity(false), x);
    struct long_real e = penta_long_expm1(abs_of(x));
    struct long_real other = penta_long_div(e, penta_long_add(e, LONG_ONE));
    return with_sign(long_scale(penta_long_add(e, other), -1), x);
}

quad penta_quad_cosh(quad x)
{
    if (quad_is_nan(x)) return x;
    if (penta_quad_abs(x) > 11358) return quad_infinity(false);
    struct long_real e = penta_long_exp(penta_long_of(x));
    return penta_long_round(long_scale(penta_long_add(e, penta_long_div(LONG_ONE, e)), -1));
}

quad penta_quad_tanh(quad x)
{
    if (quad_is_nan(x) || x == 0) return x;
    if (penta_quad_abs(x) > 45) return penta_quad_copysign(1, x);
    struct long_real e = penta_long_expm1(long_scale(abs_of(x), 1));
    return with_sign(penta_long_div(e, penta_long_add(e, LONG_TWO)), x);
}

quad penta_quad_asinh(quad x)
{
    if (x == 0 || !penta_quad_finite(x)) return x;
    struct long_real a = abs_of(x), square = penta_long_mul(a, a);
    struct long_real root = penta_long_sqrt(penta_long_add(square, LONG_ONE));
    struct long_real part = penta_long_div(square, penta_long_add(LONG_ONE, root));
    return with_sign(penta_long_log1p(penta_long_add(a, part)), x);
}

quad penta_quad_acosh(quad x)
{
    if (quad_is_nan(x) || x == penta_quad_infinity()) return x;
    if (x < 1) return penta_quad_nan();
    struct long_real t = penta_long_sub(penta_long_of(x), LONG_ONE);
    if (!t.significand) return 0;
    struct long_real root = penta_long_sqrt(penta_long_add(long_scale(t, 1), penta_long_mul(t, t)));
    return penta_long_round(penta_long_log1p(penta_long_add(t, root)));
}

quad penta_quad_atanh(quad x)
{
    if (quad_is_nan(x) || x == 0) return x;
    if (penta_quad_abs(x) == 1) return penta_quad_copysign(quad_infinity(false), x);
    if (penta_quad_abs(x) > 1) return penta_quad_nan();
    struct long_real a = abs_of(x);
    struct long_real part = penta_long_div(long_scale(a, 1), penta_long_sub(LONG_ONE, a));
    return with_sign(long_scale(penta_long_log1p(part), -1), x);
}

static bool quad_is_integer(quad x) { return penta_quad_trunc(x) == x; }

quad penta_quad_lgamma(quad x, int *sign)
{
    bool negative;
    *sign = 1;
    if (quad_is_nan(x)) return x;
    if (quad_is_infinite(x)) return quad_infinity(false);
    if (x == 0) {
        *sign = penta_quad_copysign(1, x) < 0 ? -1 : 1;
        return quad_infinity(false);
    }
    struct long_real a = penta_long_of(x);
    if ((x < 0 && quad_is_integer(x)) || a.exponent > 16370) return quad_infinity(false);
    quad result = penta_long_round(penta_long_lgamma(a, &negative));
    if (negative) *sign = -1;
    return result;
}

quad penta_quad_tgamma(quad x)
{
    if (quad_is_nan(x)) return x;
    if (x == 0) return penta_quad_copysign(quad_infinity(false), x);
    if (x < 0 && quad_is_integer(x)) return penta_quad_nan();
    if (x > 1756) return quad_infinity(false);
    if (x < -1790) return odd_integer(penta_quad_floor(x)) ? -(quad)0 : 0;
    return penta_long_round(penta_long_tgamma(penta_long_of(x)));
}

quad penta_quad_erf(quad x)
{
    if (quad_is_nan(x) || x == 0) return x;
    if (penta_quad_abs(x) > 10) return penta_quad_copysign(1, x);
    return penta_long_round(penta_long_erf(penta_long_of(x)));
}

quad penta_quad_erfc(quad x)
{
    if (quad_is_nan(x)) return x;
    if (x > 108) return 0;
    if (x < -10) return 2;
    return penta_long_round(penta_long_erfc(penta_long_of(x)));
}
