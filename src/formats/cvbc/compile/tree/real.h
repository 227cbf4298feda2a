/* Floats as their bits, for what the compiler computes itself. float on the host is IEEE single. */
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
/* Toward zero; what does not fit becomes the nearest number, and what is no number 0. The functions of the library
 * do the same. */
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
/* sign is the first character of the operator, `equal` that another follows (which is = for comparisons). */
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
