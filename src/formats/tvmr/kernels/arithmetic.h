/* Defines the arithmetic of elements that kernels and handlers share. Results are clamped, or
 * wrap. */
#pragma once
#include <stddef.h>
#include <stdint.h>

static inline int32_t ops_clamp32(int64_t v)
{
    return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : (int32_t)v;
}
static inline int64_t ops_clamp(int64_t v, int64_t low, int64_t high)
{
    return v < low ? low : v > high ? high : v;
}
static inline int32_t ops_wrap32(int64_t v) { return (int32_t)(uint32_t)(uint64_t)v; }
/* These functions wrap in 64 bits. They are for sums and products of guest data. */
static inline int64_t ops_wadd(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}
static inline int64_t ops_wmul(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a * (uint64_t)b);
}
static inline size_t min_size(size_t a, size_t b) { return a < b ? a : b; }
static inline int64_t ops_absolute(int64_t v) { return v < 0 ? -v : v; }
static inline int ops_sign(int64_t v) { return (v > 0) - (v < 0); }
