/* Defines __multc3 and __divtc3. */
#if __LDBL_MANT_DIG__ == 113
#define REAL long double
#define NAME(operation) __##operation##tc3
#define LOGB(x) logbl(x)
#define SCALE(x, n) scalbnl(x, n)
#define SIGN(x, y) copysignl(x, y)
#include "complex/arith.h"
#endif
