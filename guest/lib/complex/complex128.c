/* Implements <complex.h> for long double. */
#if __LDBL_MANT_DIG__ == 113
#define REAL long double
#define F(name) name##l
#define LARGE 11000
#define MOST 0x1.ffffffffffffffffffffffffffffp16383L
#define BIG 0x1p8000L
#define TINY 0x1p-8000L
#define HALF_PI 1.570796326794896619231321691639751442L
#define LN2 0.693147180559945309417232121458176568L
#include "complex/functions.h"
#endif
