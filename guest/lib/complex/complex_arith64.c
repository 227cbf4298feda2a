/* Defines __muldc3 and __divdc3. */
#define REAL double
#define NAME(operation) __##operation##dc3
#define LOGB(x) logb(x)
#define SCALE(x, n) scalbn(x, n)
#define SIGN(x, y) copysign(x, y)
#include "complex/arith.h"
