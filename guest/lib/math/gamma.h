/* The gamma and error functions with 128 bits, for double and long double. */
#pragma once
#include "math/long_real.h"

struct long_real penta_long_lgamma(struct long_real x,
                                   bool *negative);     /* of |gamma(x)|, and its sign */
struct long_real penta_long_tgamma(struct long_real x); /* x is no integer below 1 */
struct long_real penta_long_erf(struct long_real x);
struct long_real penta_long_erfc(struct long_real x);
