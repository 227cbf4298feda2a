/* Defines __mulsc3 and __divsc3. */
#define REAL float
#define NAME(operation) __##operation##sc3
#define LOGB(x) logbf(x)
#define SCALE(x, n) scalbnf(x, n)
#define SIGN(x, y) copysignf(x, y)
#include "complex/arith.h"
