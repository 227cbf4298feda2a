/* Computes with floats as their bits, for values that the compiler computes itself. The type
 * float of the host must be IEEE single. */
#pragma once
#include <stdint.h>
#include <string.h>

static inline float real_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
static inline uint32_t real_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return value != value ? 0x7fc00000u : bits;
}
static inline uint32_t real_from_int(int32_t v) { return real_bits((float)v); }
static inline uint32_t real_from_unsigned(uint32_t v) { return real_bits((float)v); }
/* Rounds toward zero. A number that does not fit becomes the nearest integer that does, and a
 * NaN becomes 0. The functions of the library do the same. */
static inline int32_t real_to_int(uint32_t bits)
{
    float v = real_of(bits);
    if (v != v) return 0;
    return v >= 2147483648.0f ? INT32_MAX : v < -2147483648.0f ? INT32_MIN : (int32_t)v;
}
static inline uint32_t real_to_unsigned(uint32_t bits)
{
    float v = real_of(bits);
    if (v != v) return 0;
    if (v < 0) return (uint32_t)real_to_int(bits);
    return v >= 4294967296.0f ? UINT32_MAX : (uint32_t)v;
}
/* Computes an operator. `sign` is its first character; `equal` is true if = follows, for
 * comparisons. */
static inline uint32_t real_compute(char sign, int equal, uint32_t x, uint32_t y)
{
    float a = real_of(x), b = real_of(y);
    switch (sign) {
    case '=': return a == b;
    case '!': return a != b;
    case '<': return equal ? a <= b : a < b;
    case '>': return equal ? a >= b : a > b;
    case '+': return real_bits(a + b);
    case '-': return real_bits(a - b);
    case '*': return real_bits(a * b);
    default: return real_bits(a / b);
    }
}
