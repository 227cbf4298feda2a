/* Defines the functions of long double under their names. The file is empty where long double is
 * another type. */
#include <math.h>
#include "math/long_functions.h"

#if __LDBL_MANT_DIG__ == 113

#define ONE(name)                                                                                  \
    long double name##l(long double x) { return penta_quad_##name(x); }
#define TWO(name)                                                                                  \
    long double name##l(long double x, long double y) { return penta_quad_##name(x, y); }
LONG_FUNCTIONS(ONE, TWO)

long double fabsl(long double x) { return penta_quad_abs(x); }
long double copysignl(long double x, long double y) { return penta_quad_copysign(x, y); }
long double nearbyintl(long double x) { return penta_quad_rint(x); }
long double modfl(long double x, long double *whole) { return penta_quad_modf(x, whole); }
long double frexpl(long double x, int *exponent) { return penta_quad_frexp(x, exponent); }
long double ldexpl(long double x, int exponent) { return penta_quad_ldexp(x, exponent); }
long double scalbnl(long double x, int exponent) { return penta_quad_ldexp(x, exponent); }
long double scalblnl(long double x, long exponent)
{
    return penta_quad_ldexp(x, exponent > 70000    ? 70000
                               : exponent < -70000 ? -70000
                                                   : (int)exponent);
}
int ilogbl(long double x) { return penta_quad_ilogb(x); }
long double fmal(long double x, long double y, long double z) { return penta_quad_fma(x, y, z); }
long double remquol(long double x, long double y, int *quotient)
{
    return penta_quad_remquo(x, y, quotient);
}
long lrintl(long double x) { return (long)penta_quad_rint(x); }
long long llrintl(long double x) { return (long long)penta_quad_rint(x); }
long lroundl(long double x) { return (long)penta_quad_round(x); }
long long llroundl(long double x) { return (long long)penta_quad_round(x); }
long double nexttowardl(long double x, long double y) { return penta_quad_nextafter(x, y); }
long double lgammal(long double x) { return penta_quad_lgamma(x, &signgam); }
long double nanl(const char *text)
{
    (void)text;
    return penta_quad_nan();
}

/* These functions compare with a long double, and then go to the neighbour. */
double nexttoward(double x, long double y)
{
    if (x != x || y != y) return NAN;
    return x == y ? (double)y : nextafter(x, x < y ? INFINITY : -INFINITY);
}
float nexttowardf(float x, long double y)
{
    if (x != x || y != y) return NAN;
    return x == y ? (float)y : nextafterf(x, x < y ? INFINITY : -INFINITY);
}

#endif
