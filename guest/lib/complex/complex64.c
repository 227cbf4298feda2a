/* Implements <complex.h> for double. */
#define REAL double
#define F(name) name
#define LARGE 700 /* e^LARGE is finite, and tanh(LARGE) rounds to 1. */
#define MOST 0x1.fffffffffffffp1023
#define BIG 0x1p500 /* The square of BIG is finite. */
#define TINY 0x1p-500
#define HALF_PI 1.57079632679489661923
#define LN2 0.69314718055994530942
#include "complex/functions.h"
