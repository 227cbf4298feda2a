/* Implements sines, tangents and their inverses. Their errors are below 0.51 units in the last
 * place, for all arguments. */
#include <math.h>
#include "math/real.h"

/* The table has 64 zeros, then 2 / pi with enough bits for the largest double. */
static const uint64_t two_over_pi[] = {0,
                                       0xa2f9836e4e441529,
                                       0xfc2757d1f534ddc0,
                                       0xdb6295993c439041,
                                       0xfe5163abdebbc561,
                                       0xb7246e3a424dd2e0,
                                       0x06492eea09d1921c,
                                       0xfe1deb1cb129a73e,
                                       0xe88235f52ebb4484,
                                       0xe99c7026b45f7e41,
                                       0x3991d639835339f4,
                                       0x9c845f8bbdf9283b,
                                       0x1ff897ffde05980f,
                                       0xef2f118b5a0a6d1f,
                                       0x6d367ecf27cb09b7,
                                       0x4f463f669e5fea2d,
                                       0x7527bac7ebe5f17b,
                                       0x3d0739f78a5292ea,
                                       0x6bfb5fb11f8d5d08,
                                       0x56033046fc7b6bab,
                                       0xf0cfbc209af4361d};

static uint64_t bits_from(unsigned at)
{
    unsigned word = at / 64, shift = at % 64;
    return shift ? two_over_pi[word] << shift | two_over_pi[word + 1] >> (64 - shift)
                 : two_over_pi[word];
}

/* Reduces an angle: |x| = quarter * pi/2 + result, with quarter modulo 4 and |result| at most
 * pi/4. Of the product of x and 2 / pi only 192 bits are computed, from the bit of value 2 down.
 * Higher bits are multiples of 4, and lower ones are not needed, since even the double that is
 * nearest to a multiple of pi/2 leaves 66 significant bits. */
static struct real angle_reduce(double x, unsigned *quarter)
{
    struct real a = real_abs(penta_real_of(x));
    *quarter = 0;
    if (a.exponent < -1 || (a.exponent == -1 && a.significand <= REAL_HALF_PI.significand))
        return a;
    uint64_t number = a.significand >> 11; /* a is this number times 2^(exponent - 52). */
    unsigned at = (unsigned)(a.exponent - 52 - 2 + 64);
    uint64_t low1, low2, high1, high2, p0, p1, p2;
    high2 = wide_mul(number, bits_from(at + 128), &low2);
    high1 = wide_mul(number, bits_from(at + 64), &low1);
    p2 = low2;
    p1 = low1 + high2;
    p0 = number * bits_from(at) + high1 + (p1 < low1);
    *quarter = (unsigned)(p0 >> 62);
    uint64_t high = p0 << 2 | p1 >> 62, low = p1 << 2 | p2 >> 62;
    bool negative = high >> 63;
    if (negative) { /* The next multiple is nearer. */
        *quarter = (*quarter + 1) & 3;
        high = ~high + !low;
        low = 0 - low;
    }
    int shift = high ? __builtin_clzll(high) : 64;
    if (!high)
        high = low;
    else if (shift)
        high = high << shift | low >> (64 - shift);
    return penta_real_mul(penta_real_make(negative, high, -1 - shift), REAL_HALF_PI);
}

/* Computes 1 - z (c - z (c - ...)), where the c are every second 1/n! from `first` on; z is a
 * fraction. */
static struct real alternating_series(uint64_t z, int first)
{
    uint64_t sum = 0;
    for (int n = first + 18 - (first & 1) * 2; n >= first; n -= 2)
        sum = fraction_times(z, penta_inverse_factorial[n] - sum);
    if (!sum) return REAL_ONE;
    return penta_real_make(false, 0 - sum, -1);
}

static uint64_t angle_square(struct real r)
{
    return r.significand ? penta_real_fraction(penta_real_mul(r, r)) : 0;
}
static struct real angle_sine(struct real r)
{
    return penta_real_mul(r, alternating_series(angle_square(r), 3));
}
static struct real angle_cosine(struct real r) { return alternating_series(angle_square(r), 2); }

static bool finite_number(double x) { return x - x == 0; }

static double with_sign(struct real r, bool negative)
{
    if (negative) r = real_negate(r);
    return penta_real_round(r);
}

double sin(double x)
{
    unsigned quarter;
    if (!finite_number(x)) return NAN;
    if (x == 0) return x;
    struct real r = angle_reduce(x, &quarter);
    return with_sign(quarter & 1 ? angle_cosine(r) : angle_sine(r),
                     (quarter & 2) != 0 ? x > 0 : x < 0);
}

double cos(double x)
{
    unsigned quarter;
    if (!finite_number(x)) return NAN;
    struct real r = angle_reduce(x, &quarter);
    return with_sign(quarter & 1 ? angle_sine(r) : angle_cosine(r), quarter == 1 || quarter == 2);
}

double tan(double x)
{
    unsigned quarter;
    if (!finite_number(x)) return NAN;
    if (x == 0) return x;
    struct real r = angle_reduce(x, &quarter), s = angle_sine(r), c = angle_cosine(r);
    struct real t = quarter & 1 ? real_negate(penta_real_div(c, s)) : penta_real_div(s, c);
    return with_sign(t, x < 0);
}

/* Computes atan(t) = t (1 - t^2/3 + t^4/5 - ...), for |t| up to a quarter. */
static struct real atan_small(struct real t)
{
    uint64_t z = angle_square(t), sum = 0;
    for (unsigned n = 35; n >= 3; n -= 2) sum = fraction_times(z, UINT64_MAX / n - sum);
    return real_sub(t, penta_real_mul(t, penta_real_make(false, sum, -1)));
}

/* Computes atan(t) for 0 <= t <= 1 as the sum of the atan of 1/2 or of 1, and that of a small
 * rest. */
static struct real atan_unit(struct real t)
{
    static const struct real half = {UINT64_C(1) << 63, -1, false};
    static const struct real atan_half = {0xed63382b0dda7b45, -2, false};
    if (!t.significand || t.exponent < -2) return atan_small(t);
    if (t.exponent == -2 || t.significand < UINT64_C(3) << 62) { /* t is below 3/4. */
        struct real rest =
            penta_real_div(real_sub(t, half), penta_real_add(REAL_ONE, real_scale(t, -1)));
        return penta_real_add(atan_half, atan_small(rest));
    }
    struct real rest = penta_real_div(real_sub(t, REAL_ONE), penta_real_add(REAL_ONE, t));
    return penta_real_add(real_scale(REAL_PI, -2), atan_small(rest));
}

struct real penta_real_atan2(struct real y, struct real x)
{
    if (penta_real_compare(y, x) <= 0) return atan_unit(penta_real_div(y, x));
    return real_sub(REAL_HALF_PI, atan_unit(penta_real_div(x, y)));
}

double atan(double x)
{
    if (x != x || x == 0) return x;
    if (!finite_number(x)) return copysign(penta_real_round(REAL_HALF_PI), x);
    return copysign(penta_real_round(penta_real_atan2(real_abs(penta_real_of(x)), REAL_ONE)), x);
}

/* Returns |x| as a coordinate for atan2. An infinite one becomes so large that the angle is
 * exact. If the other is infinite, a finite one becomes 0. */
static struct real atan2_coordinate(double x, double other)
{
    struct real a = {UINT64_C(1) << 63, 5000, false};
    if (finite_number(x))
        return finite_number(other) ? real_abs(penta_real_of(x)) : (struct real){0};
    return a;
}

double atan2(double y, double x)
{
    if (x != x || y != y) return NAN;
    struct real a = atan2_coordinate(y, x), b = atan2_coordinate(x, y), angle = {0};
    if (a.significand || b.significand) angle = penta_real_atan2(a, b);
    if (double_bits(x) >> 63) angle = real_sub(REAL_PI, angle);
    return copysign(penta_real_round(angle), y);
}

/* Computes sqrt(1 - x^2). */
static struct real other_side(struct real a)
{
    return penta_real_sqrt(penta_real_mul(real_sub(REAL_ONE, a), penta_real_add(REAL_ONE, a)));
}

double asin(double x)
{
    if (x != x || x == 0) return x;
    if (fabs(x) > 1) return NAN;
    struct real a = real_abs(penta_real_of(x));
    return copysign(penta_real_round(penta_real_atan2(a, other_side(a))), x);
}

double acos(double x)
{
    if (x != x) return x;
    if (fabs(x) > 1) return NAN;
    struct real a = real_abs(penta_real_of(x)), angle = penta_real_atan2(other_side(a), a);
    return penta_real_round(x < 0 ? real_sub(REAL_PI, angle) : angle);
}
