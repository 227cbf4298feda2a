/* Declares the gamma and error functions with 128 bits, for double and long double. */
#pragma once
#include "math/long_real.h"

/* Returns the logarithm of |gamma(x)|; *negative is the sign of gamma(x). */
struct long_real penta_long_lgamma(struct long_real x, bool *negative);
struct long_real penta_long_tgamma(struct long_real x); /* x must not be an integer below 1. */
struct long_real penta_long_erf(struct long_real x);
struct long_real penta_long_erfc(struct long_real x);
