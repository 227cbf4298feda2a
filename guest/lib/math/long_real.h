/* Declares numbers with a significand of 128 bits, fifteen more than a long double has. The
 * functions of long double, the gamma and the error functions compute with them, and round once
 * at the end. Each operation is off by at most 2^-127 of its result.
 *
 * A number is significand * 2^(exponent - 127), with the highest bit of the significand set. The
 * significand of zero is 0. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "arith/quad.h"
#include "arith/wider.h"

struct long_real {
    quad_bits significand;
    int exponent;
    bool negative;
};

struct long_constant { /* Such a number in a table. */
    uint64_t high, low;
    int exponent;
    bool negative;
};

static inline struct long_real long_real_constant(const struct long_constant *c)
{
    return (struct long_real){wider_join(c->high, c->low), c->exponent, c->negative};
}
#define LONG_CONSTANT(high, low, exponent)                                                         \
    ((struct long_real){wider_join(high, low), exponent, false})
#define LONG_ONE LONG_CONSTANT(UINT64_C(1) << 63, 0, 0)
#define LONG_TWO LONG_CONSTANT(UINT64_C(1) << 63, 0, 1)
#define LONG_LN2 LONG_CONSTANT(0xb17217f7d1cf79ab, 0xc9e3b39803f2f6af, -1)
#define LONG_HALF_PI LONG_CONSTANT(0xc90fdaa22168c234, 0xc4c6628b80dc1cd1, 0)
#define LONG_PI LONG_CONSTANT(0xc90fdaa22168c234, 0xc4c6628b80dc1cd1, 1)
#define LONG_LOG2_E LONG_CONSTANT(0xb8aa3b295c17f0bb, 0xbe87fed0691d3e89, 0)
#define LONG_LOG10_E LONG_CONSTANT(0xde5bd8a937287195, 0x355baaafad33dc32, -2)

static inline struct long_real long_abs(struct long_real a)
{
    a.negative = false;
    return a;
}
static inline struct long_real long_negate(struct long_real a)
{
    a.negative = !a.negative;
    return a;
}
static inline struct long_real long_scale(struct long_real a, int power)
{
    a.exponent += power;
    return a;
}

/* Returns 1 / n as a fraction of 2^128, rounded down. */
static inline quad_bits long_inverse(unsigned n)
{
    uint64_t rest;
    uint64_t low = wide_div(UINT64_MAX % n, UINT64_MAX, n, &rest);
    return wider_join(UINT64_MAX / n, low);
}

struct long_real penta_long_of(quad x); /* x must be finite. */
struct long_real penta_long_of_double(double x);
struct long_real penta_long_of_int(int64_t n);
struct long_real penta_long_make(bool negative, quad_bits significand, int exponent);
quad penta_long_round(struct long_real a); /* Returns the nearest long double, which may be
                                            * subnormal or infinite. */
double penta_long_round_double(struct long_real a);
/* Returns |a| below 1 as a fraction of 2^128, rounded down. */
quad_bits penta_long_fraction(struct long_real a);
struct long_real penta_long_add(struct long_real a, struct long_real b);
struct long_real penta_long_sub(struct long_real a, struct long_real b);
struct long_real penta_long_mul(struct long_real a, struct long_real b);
struct long_real penta_long_div(struct long_real a, struct long_real b); /* b must not be zero. */
struct long_real penta_long_sqrt(struct long_real a);
int penta_long_compare(struct long_real a, struct long_real b); /* Compares the absolute values. */

extern const uint64_t penta_long_factorial[][2];
extern const uint64_t penta_two_over_pi[];
extern const struct long_constant penta_stirling[], penta_zeta[];
enum { STIRLING_TERMS = 18, ZETA_TERMS = 46 };

struct long_real penta_long_exp(struct long_real x); /* |x| must be below 2^15. */
struct long_real penta_long_expm1(struct long_real x);
struct long_real penta_long_log(struct long_real x); /* x must be above 0. */
struct long_real penta_long_log1p(struct long_real x);
/* Splits log x: x = *exponent * ln 2 + result, with |result| at most half of ln 2. */
struct long_real penta_long_log_split(struct long_real x, int *exponent);
/* Returns the sine of pi x, for 0 <= x <= 1/2. */
struct long_real penta_long_sin_pi(struct long_real x);
/* Returns e^(-x^2), with x^2 not rounded. */
struct long_real penta_long_exp_square(struct long_real x);
