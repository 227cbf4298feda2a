/* Implements sines, tangents and their inverses of long double. */
#include <math.h>
#include "math/long_functions.h"
#include "math/long_real.h"

static uint64_t bits_from(unsigned at)
{
    unsigned word = at / 64, shift = at % 64;
    const uint64_t *p = penta_two_over_pi + word;
    return shift ? p[0] << shift | p[1] >> (64 - shift) : p[0];
}

/* Reduces an angle: |x| = quarter * pi/2 + result, with quarter modulo 4 and |result| at most
 * pi/4. Of the product of x and 2 / pi, the 384 bits from the one of value 2 down are computed.
 * Even the long double that is nearest to a multiple of pi/2 leaves enough of them. */
enum { LIMBS = 6 };

static struct long_real angle_reduce(quad x, unsigned *quarter)
{
    struct long_real a = long_abs(penta_long_of(x));
    *quarter = 0;
    if (a.exponent < -1 || (a.exponent == -1 && a.significand <= LONG_HALF_PI.significand))
        return a;
    /* a is number * 2^(exponent - 112). `at` is the bit of 2 / pi with which the product has the
     * value 2. */
    quad_bits number = a.significand >> 15;
    unsigned at = (unsigned)(a.exponent - 112 - 2 + 128);
    uint64_t p[LIMBS + 2] = {0}, n[2] = {wider_high(number), (uint64_t)number};
    /* p[0] is the highest limb. Higher limbs would be multiples of 4. */
    for (unsigned i = 0; i < LIMBS + 1; i++) {
        uint64_t digit = bits_from(at + 64 * i), low, high;
        for (unsigned k = 0; k < 2; k++) {
            /* The weight of `digit` is -(i), and that of n[0] is one more than that of n[1].
             * `limb` counts from the top. */
            int limb = (int)i - (k == 0);
            high = wide_mul(digit, n[k], &low);
            for (int to = limb; to >= limb - 1; to--) {
                uint64_t add = to == limb ? low : high;
                for (int c = to; add && c >= 0; c--) {
                    if (c > LIMBS + 1) continue;
                    p[c] += add;
                    add = p[c] < add;
                }
            }
        }
    }
    *quarter = (unsigned)(p[0] >> 62);
    quad_bits high = wider_join(p[0], p[1]) << 2 | p[2] >> 62;
    quad_bits middle = wider_join(p[2], p[3]) << 2 | p[4] >> 62;
    quad_bits low = wider_join(p[4], p[5]) << 2;
    bool negative = high >> 127 != 0;
    if (negative) { /* The next multiple is nearer. */
        *quarter = (*quarter + 1) & 3;
        low = 0 - low;
        middle = ~middle + !low;
        high = ~high + (!low && !middle);
    }
    int exponent = -1;
    if (!high) {
        high = middle;
        middle = low;
        exponent -= 128;
    }
    struct long_real part = penta_long_make(negative, high, exponent);
    part = penta_long_add(part, penta_long_make(negative, middle, exponent - 128));
    return penta_long_mul(part, LONG_HALF_PI);
}

static quad_bits fraction_times(quad_bits a, quad_bits b)
{
    quad_bits low;
    return wider_mul(a, b, &low);
}

/* Computes 1 - z (c - z (c - ...)), where the c are every second 1/n! from `first` on; z is a
 * fraction. */
static struct long_real alternating_series(quad_bits z, int first)
{
    quad_bits sum = 0;
    for (int n = first + 32 - (first & 1) * 2; n >= first; n -= 2)
        sum = fraction_times(z, wider_join(penta_long_factorial[n][0], penta_long_factorial[n][1]) -
                                    sum);
    return sum ? penta_long_make(false, 0 - sum, -1) : LONG_ONE;
}

static quad_bits angle_square(struct long_real r)
{
    return r.significand ? penta_long_fraction(penta_long_mul(r, r)) : 0;
}
static struct long_real angle_sine(struct long_real r)
{
    return penta_long_mul(r, alternating_series(angle_square(r), 3));
}
static struct long_real angle_cosine(struct long_real r)
{
    return alternating_series(angle_square(r), 2);
}

struct long_real penta_long_sin_pi(struct long_real x)
{
    struct long_real quarter = long_scale(LONG_ONE, -2), half = long_scale(LONG_ONE, -1);
    if (penta_long_compare(x, quarter) <= 0) return angle_sine(penta_long_mul(x, LONG_PI));
    return angle_cosine(penta_long_mul(penta_long_sub(half, x), LONG_PI));
}

static quad with_sign(struct long_real r, bool negative)
{
    return penta_long_round(negative ? long_negate(r) : r);
}

quad penta_quad_sin(quad x)
{
    unsigned quarter;
    if (!penta_quad_finite(x)) return penta_quad_nan();
    if (x == 0) return x;
    struct long_real r = angle_reduce(x, &quarter);
    return with_sign(quarter & 1 ? angle_cosine(r) : angle_sine(r),
                     (quarter & 2) != 0 ? x > 0 : x < 0);
}

quad penta_quad_cos(quad x)
{
    unsigned quarter;
    if (!penta_quad_finite(x)) return penta_quad_nan();
    struct long_real r = angle_reduce(x, &quarter);
    return with_sign(quarter & 1 ? angle_sine(r) : angle_cosine(r), quarter == 1 || quarter == 2);
}

quad penta_quad_tan(quad x)
{
    unsigned quarter;
    if (!penta_quad_finite(x)) return penta_quad_nan();
    if (x == 0) return x;
    struct long_real r = angle_reduce(x, &quarter), s = angle_sine(r), c = angle_cosine(r);
    struct long_real t = quarter & 1 ? long_negate(penta_long_div(c, s)) : penta_long_div(s, c);
    return with_sign(t, x < 0);
}

/* Computes t - t^3/3 + t^5/5 - ... for t up to 1/8. */
static struct long_real atan_series(struct long_real t)
{
    quad_bits z = angle_square(t), sum = 0;
    for (unsigned n = 45; n >= 3; n -= 2) sum = fraction_times(z, long_inverse(n) - sum);
    return penta_long_mul(t, sum ? penta_long_make(false, 0 - sum, -1) : LONG_ONE);
}

/* Returns the angle of y / x, both not negative and not both zero. Halving an angle makes t of
 * its tangent t / (1 + sqrt(1 + t^2)). */
static struct long_real long_atan2(struct long_real y, struct long_real x)
{
    bool steep = penta_long_compare(y, x) > 0;
    int halvings = 0;
    if (!y.significand) return y;
    struct long_real t = steep ? penta_long_div(x, y) : penta_long_div(y, x);
    for (; t.significand && t.exponent >= -3; halvings++) {
        struct long_real root = penta_long_sqrt(penta_long_add(LONG_ONE, penta_long_mul(t, t)));
        t = penta_long_div(t, penta_long_add(LONG_ONE, root));
    }
    struct long_real angle = atan_series(t);
    if (angle.significand) angle.exponent += halvings;
    return steep ? penta_long_sub(LONG_HALF_PI, angle) : angle;
}

quad penta_quad_atan(quad x)
{
    if (x != x || x == 0) return x;
    struct long_real angle =
        penta_quad_finite(x) ? long_atan2(long_abs(penta_long_of(x)), LONG_ONE) : LONG_HALF_PI;
    return penta_quad_copysign(penta_long_round(angle), x);
}

quad penta_quad_atan2(quad y, quad x)
{
    if (x != x || y != y) return penta_quad_nan();
    bool left = penta_quad_copysign(1, x) < 0;
    struct long_real zero = {0, 0, false}, angle;
    if (y == 0) {
        angle = zero;
    } else if (!penta_quad_finite(y)) {
        angle = penta_quad_finite(x) ? LONG_HALF_PI : long_scale(LONG_HALF_PI, -1);
    } else if (!penta_quad_finite(x)) {
        angle = zero;
    } else if (x == 0) {
        angle = LONG_HALF_PI;
    } else {
        angle = long_atan2(long_abs(penta_long_of(y)), long_abs(penta_long_of(x)));
    }
    if (left) angle = penta_long_sub(LONG_PI, angle);
    return penta_quad_copysign(penta_long_round(angle), y);
}

/* Computes sqrt((1 - a) (1 + a)) for a up to 1. */
static struct long_real other_leg(struct long_real a)
{
    return penta_long_sqrt(
        penta_long_mul(penta_long_sub(LONG_ONE, a), penta_long_add(LONG_ONE, a)));
}

quad penta_quad_asin(quad x)
{
    if (x != x || x == 0) return x;
    if (penta_quad_abs(x) > 1) return penta_quad_nan();
    struct long_real a = long_abs(penta_long_of(x));
    return penta_quad_copysign(penta_long_round(long_atan2(a, other_leg(a))), x);
}

quad penta_quad_acos(quad x)
{
    if (x != x) return x;
    if (penta_quad_abs(x) > 1) return penta_quad_nan();
    struct long_real a = long_abs(penta_long_of(x)), leg = other_leg(a);
    struct long_real angle = leg.significand || a.significand ? long_atan2(leg, a) : LONG_HALF_PI;
    if (x < 0) angle = penta_long_sub(LONG_PI, angle);
    return penta_long_round(angle);
}
