/* Implements float: arithmetic, and conversion from double. */
#include <stdbool.h>
#include <stdint.h>

static uint32_t mul_high(uint32_t a, uint32_t b, uint32_t *low)
{
    uint64_t product = (uint64_t)a * b;
    *low = (uint32_t)product;
    return (uint32_t)(product >> 32);
}

static uint32_t div_by(uint32_t high, uint32_t low, uint32_t d, uint32_t *rest)
{
    uint64_t n = (uint64_t)high << 32 | low;
    *rest = (uint32_t)(n % d);
    return (uint32_t)(n / d);
}

#define FLOAT float
#define REP uint32_t
#define WIDTH 32
#define FRACTION 23
#define MUL_HIGH(a, b, low) mul_high(a, b, low)
#define DIV_BY(high, low, d, rest) div_by(high, low, d, rest)
#define NAME(operation, rest) __##operation##sf##rest
#include "arith/float_arith.h"

float __truncdfsf2(double x)
{
    uint64_t a;
    __builtin_memcpy(&a, &x, sizeof a);
    uint32_t sign = (uint32_t)(a >> 63) << 31;
    int exponent = (int)(a >> 52 & 2047);
    uint64_t fraction = a & (((uint64_t)1 << 52) - 1);
    if (exponent == 2047) return float_of(sign | (fraction ? QUIET_NAN : INFINITE));
    if (!exponent) return float_of(sign); /* The number is far below the smallest float. */
    fraction |= (uint64_t)1 << 52;
    uint32_t significand = (uint32_t)(fraction >> 22) | ((fraction & 0x3fffff) != 0);
    return float_pack(sign, exponent - 1023 + 127, significand);
}
