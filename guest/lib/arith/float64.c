/* Implements double: arithmetic, and conversion from float. */
#include <stdbool.h>
#include "arith/wide.h"
#define FLOAT double
#define REP uint64_t
#define WIDTH 64
#define FRACTION 52
#define MUL_HIGH(a, b, low) wide_mul(a, b, low)
#define DIV_BY(high, low, d, rest) wide_div(high, low, d, rest)
#define NAME(operation, rest) __##operation##df##rest
#include "arith/float_arith.h"

double __extendsfdf2(float x)
{
    uint32_t a;
    __builtin_memcpy(&a, &x, sizeof a);
    uint64_t sign = (uint64_t)(a >> 31) << 63, fraction = a & 0x7fffff;
    int exponent = a >> 23 & 255;
    if (exponent == 255)
        return float_of(fraction ? sign | QUIET_NAN | fraction << 29 : sign | INFINITE);
    if (!exponent && !fraction) return float_of(sign);
    if (!exponent) { /* A subnormal float is a normal double. */
        int shift = __builtin_clz((unsigned)fraction) - 8;
        fraction = fraction << shift & 0x7fffff;
        exponent = 1 - shift;
    }
    return float_of(sign | (uint64_t)(exponent + 1023 - 127) << 52 | fraction << 29);
}
