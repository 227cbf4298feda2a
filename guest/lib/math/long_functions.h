/* Declares functions of long double under names that can be tested where long double has another
 * size. The errors of those that are not exact are below 0.51 units in the last place, but for
 * pow and tgamma (2 units), and lgamma of negative numbers (2^-110). */
#pragma once
#include <stdbool.h>
#include "arith/quad.h"

quad penta_quad_abs(quad x);
quad penta_quad_copysign(quad x, quad y);
bool penta_quad_finite(quad x);
quad penta_quad_infinity(void);
quad penta_quad_nan(void);

/* ONE_(name) is a function of one argument, TWO_(name) a function of two. */
/* clang-format off */
#define LONG_FUNCTIONS(ONE_, TWO_)                                                                 \
    ONE_(floor) ONE_(ceil) ONE_(trunc) ONE_(round) ONE_(rint) ONE_(logb) ONE_(sqrt) ONE_(cbrt)     \
    ONE_(exp) ONE_(exp2) ONE_(expm1) ONE_(log) ONE_(log2) ONE_(log10) ONE_(log1p)                  \
    ONE_(sin) ONE_(cos) ONE_(tan) ONE_(asin) ONE_(acos) ONE_(atan)                                 \
    ONE_(sinh) ONE_(cosh) ONE_(tanh) ONE_(asinh) ONE_(acosh) ONE_(atanh)                           \
    ONE_(erf) ONE_(erfc) ONE_(tgamma)                                                              \
    TWO_(fmod) TWO_(remainder) TWO_(fmin) TWO_(fmax) TWO_(fdim)                                    \
    TWO_(pow) TWO_(hypot) TWO_(atan2) TWO_(nextafter)
/* clang-format on */
#define LONG_DECLARE_ONE(name) quad penta_quad_##name(quad x);
#define LONG_DECLARE_TWO(name) quad penta_quad_##name(quad x, quad y);
LONG_FUNCTIONS(LONG_DECLARE_ONE, LONG_DECLARE_TWO)
quad penta_quad_lgamma(quad x, int *sign);
quad penta_quad_fma(quad x, quad y, quad z);
quad penta_quad_remquo(quad x, quad y, int *quotient);
quad penta_quad_modf(quad x, quad *whole);
quad penta_quad_frexp(quad x, int *exponent);
quad penta_quad_ldexp(quad x, int exponent);
int penta_quad_ilogb(quad x);
