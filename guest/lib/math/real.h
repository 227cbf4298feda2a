/* Declares numbers with a significand of 64 bits, eleven more than a double has. Elementary
 * functions compute with them, and round once at the end. Each operation is off by at most 2^-64
 * of its result.
 *
 * A number is significand * 2^(exponent - 63), with the highest bit of the significand set. The
 * significand of zero is 0. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "arith/wide.h"

struct real {
    uint64_t significand;
    int exponent;
    bool negative;
};

static inline uint64_t double_bits(double x)
{
    uint64_t bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline double double_from(uint64_t bits)
{
    double x;
    __builtin_memcpy(&x, &bits, sizeof x);
    return x;
}

/* Returns the upper half of a product, which is a * b for fractions of 2^64. */
static inline uint64_t fraction_times(uint64_t a, uint64_t b)
{
    uint64_t low;
    return wide_mul(a, b, &low);
}

static inline struct real real_abs(struct real a)
{
    a.negative = false;
    return a;
}
static inline struct real real_negate(struct real a)
{
    a.negative = !a.negative;
    return a;
}
static inline struct real real_scale(struct real a, int power)
{
    a.exponent += power;
    return a;
}

struct real penta_real_of(double x); /* x must be finite. */
struct real penta_real_make(bool negative, uint64_t significand,
                            int exponent); /* Takes any significand. */
double penta_real_round(struct real a);    /* Returns the nearest double, which may be subnormal or
                                         * infinite. */
/* Returns |a| below 1 as a fraction of 2^64, rounded down. */
uint64_t penta_real_fraction(struct real a);
struct real penta_real_add(struct real a, struct real b);
struct real penta_real_mul(struct real a, struct real b);
struct real penta_real_div(struct real a, struct real b);
struct real penta_real_sqrt(struct real a);
static inline struct real real_sub(struct real a, struct real b)
{
    return penta_real_add(a, real_negate(b));
}
/* Compares the absolute values: negative, 0 or positive. */
int penta_real_compare(struct real a, struct real b);

#define REAL_ONE ((struct real){UINT64_C(1) << 63, 0, false})
#define REAL_TWO ((struct real){UINT64_C(1) << 63, 1, false})
#define REAL_LN2 ((struct real){0xb17217f7d1cf79ac, -1, false})
#define REAL_PI ((struct real){0xc90fdaa22168c235, 1, false})
#define REAL_HALF_PI ((struct real){0xc90fdaa22168c235, 0, false})

/* Entry n is 1/n! * 2^64, for n from 2 to 20. Entries 0 and 1 are not used. */
extern const uint64_t penta_inverse_factorial[21];

/* These functions return e^x and e^x - 1, for |x| below 2^11. */
struct real penta_real_exp(struct real x);
struct real penta_real_expm1(struct real x);
/* Returns 2^(whole + fraction / 2^64). */
struct real penta_real_exp2(int whole, uint64_t fraction);
/* These functions return the logarithms of x > 0 and of 1 + x > 0. */
struct real penta_real_log(struct real x);
struct real penta_real_log1p(struct real x);
/* Splits log x: x = *exponent * ln 2 + result, with |result| at most half of ln 2. */
struct real penta_real_log_split(struct real x, int *exponent);
/* Returns the angle of y / x, both not negative and not both zero: 0 to half of pi. */
struct real penta_real_atan2(struct real y, struct real x);
