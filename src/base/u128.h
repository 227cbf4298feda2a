/* Unsigned 128-bit numbers, and signed numbers in the same bits. Where the compiler has such
 * integers, each function is one of its operators and gives the same machine code. Compilers for
 * 32-bit machines have none; there the second half of this file computes with 64-bit numbers.
 * Defining PENTA_PLAIN_U128 chooses that half everywhere, which tests do. */
#pragma once
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#if defined(__SIZEOF_INT128__) && !defined(PENTA_PLAIN_U128)

typedef unsigned __int128 u128;

static inline u128 u128_of(uint64_t v) { return v; }
static inline u128 u128_signed(int64_t v) { return (u128)(__int128)v; }
static inline u128 u128_join(uint64_t high, uint64_t low) { return (u128)high << 64 | low; }
static inline uint64_t u128_low(u128 a) { return (uint64_t)a; }
static inline uint64_t u128_high(u128 a) { return (uint64_t)(a >> 64); }

static inline u128 u128_add(u128 a, u128 b) { return a + b; }
static inline u128 u128_sub(u128 a, u128 b) { return a - b; }
static inline u128 u128_mul(u128 a, u128 b) { return a * b; }
static inline u128 u128_product(uint64_t a, uint64_t b) { return (u128)a * b; }
/* b must not be 0 in the two functions below. */
static inline u128 u128_div(u128 a, u128 b) { return a / b; }
static inline u128 u128_mod(u128 a, u128 b) { return a % b; }
/* The quotient rounds toward zero; the remainder has the sign of a. The least number must not be
 * divided by -1. */
static inline u128 u128_div_signed(u128 a, u128 b) { return (u128)((__int128)a / (__int128)b); }
static inline u128 u128_mod_signed(u128 a, u128 b) { return (u128)((__int128)a % (__int128)b); }

static inline u128 u128_and(u128 a, u128 b) { return a & b; }
static inline u128 u128_or(u128 a, u128 b) { return a | b; }
static inline u128 u128_xor(u128 a, u128 b) { return a ^ b; }
static inline u128 u128_not(u128 a) { return ~a; }
/* n must be below 128 in the functions below. */
static inline u128 u128_shl(u128 a, unsigned n) { return a << n; }
static inline u128 u128_shr(u128 a, unsigned n) { return a >> n; }
static inline u128 u128_sar(u128 a, unsigned n) { return (u128)((__int128)a >> n); }

static inline bool u128_is_zero(u128 a) { return !a; }
static inline bool u128_equal(u128 a, u128 b) { return a == b; }
static inline bool u128_less(u128 a, u128 b) { return a < b; }
static inline bool u128_less_signed(u128 a, u128 b) { return (__int128)a < (__int128)b; }

/* The result is the nearest real number. */
static inline double u128_real(u128 a) { return (double)a; }
static inline float u128_real32(u128 a) { return (float)a; }
/* Returns the integer part of v, which must be at least 0 and below 2^128. */
static inline u128 u128_of_real(double v) { return (u128)v; }

#else

typedef struct {
    uint64_t low, high;
} u128;

static inline u128 u128_join(uint64_t high, uint64_t low) { return (u128){low, high}; }
static inline u128 u128_of(uint64_t v) { return u128_join(0, v); }
static inline u128 u128_signed(int64_t v) { return u128_join(v < 0 ? UINT64_MAX : 0, (uint64_t)v); }
static inline uint64_t u128_low(u128 a) { return a.low; }
static inline uint64_t u128_high(u128 a) { return a.high; }

static inline u128 u128_add(u128 a, u128 b)
{
    uint64_t low = a.low + b.low;
    return u128_join(a.high + b.high + (low < a.low), low);
}
static inline u128 u128_sub(u128 a, u128 b)
{
    return u128_join(a.high - b.high - (a.low < b.low), a.low - b.low);
}
/* Multiplies by four products of 32 by 32 bits. */
static inline u128 u128_product(uint64_t a, uint64_t b)
{
    uint64_t al = (uint32_t)a, ah = a >> 32, bl = (uint32_t)b, bh = b >> 32;
    uint64_t low = al * bl, one = ah * bl + (low >> 32), other = al * bh + (uint32_t)one;
    return u128_join(ah * bh + (one >> 32) + (other >> 32), other << 32 | (uint32_t)low);
}
static inline u128 u128_mul(u128 a, u128 b)
{
    u128 r = u128_product(a.low, b.low);
    return u128_join(r.high + a.low * b.high + a.high * b.low, r.low);
}

static inline u128 u128_and(u128 a, u128 b) { return u128_join(a.high & b.high, a.low & b.low); }
static inline u128 u128_or(u128 a, u128 b) { return u128_join(a.high | b.high, a.low | b.low); }
static inline u128 u128_xor(u128 a, u128 b) { return u128_join(a.high ^ b.high, a.low ^ b.low); }
static inline u128 u128_not(u128 a) { return u128_join(~a.high, ~a.low); }
static inline u128 u128_shl(u128 a, unsigned n)
{
    if (!n) return a;
    if (n >= 64) return u128_join(a.low << (n - 64), 0);
    return u128_join(a.high << n | a.low >> (64 - n), a.low << n);
}
static inline u128 u128_shr(u128 a, unsigned n)
{
    if (!n) return a;
    if (n >= 64) return u128_of(a.high >> (n - 64));
    return u128_join(a.high >> n, a.high << (64 - n) | a.low >> n);
}
static inline u128 u128_sar(u128 a, unsigned n)
{
    u128 r = u128_shr(a, n);
    return n && a.high >> 63 ? u128_or(r, u128_shl(u128_not(u128_of(0)), 128 - n)) : r;
}

static inline bool u128_is_zero(u128 a) { return !(a.low | a.high); }
static inline bool u128_equal(u128 a, u128 b) { return a.low == b.low && a.high == b.high; }
static inline bool u128_less(u128 a, u128 b)
{
    return a.high != b.high ? a.high < b.high : a.low < b.low;
}
static inline bool u128_less_signed(u128 a, u128 b)
{
    return a.high != b.high ? (int64_t)a.high < (int64_t)b.high : a.low < b.low;
}

/* Divides *a by b, bit by bit, and leaves the remainder in *a. */
static inline u128 u128_divide(u128 *a, u128 b)
{
    u128 quotient = {0, 0}, rest = {0, 0};
    if (!(a->high | b.high)) {
        quotient.low = a->low / b.low;
        a->low %= b.low;
        return quotient;
    }
    for (unsigned bit = 128; bit-- > 0;) {
        bool over = rest.high >> 63;
        rest = u128_or(u128_shl(rest, 1), u128_of(u128_shr(*a, bit).low & 1));
        over = over || !u128_less(rest, b);
        if (over) rest = u128_sub(rest, b);
        quotient = u128_or(u128_shl(quotient, 1), u128_of(over));
    }
    *a = rest;
    return quotient;
}
static inline u128 u128_div(u128 a, u128 b) { return u128_divide(&a, b); }
static inline u128 u128_mod(u128 a, u128 b) { return u128_divide(&a, b), a; }
static inline u128 u128_opposite_if(bool negative, u128 a)
{
    return negative ? u128_sub(u128_of(0), a) : a;
}
static inline u128 u128_div_signed(u128 a, u128 b)
{
    bool minus = a.high >> 63, other = b.high >> 63;
    return u128_opposite_if(minus != other,
                            u128_div(u128_opposite_if(minus, a), u128_opposite_if(other, b)));
}
static inline u128 u128_mod_signed(u128 a, u128 b)
{
    bool minus = a.high >> 63, other = b.high >> 63;
    return u128_opposite_if(minus,
                            u128_mod(u128_opposite_if(minus, a), u128_opposite_if(other, b)));
}

/* Returns the 64 highest bits of a number of at least 2^64, which is shifted down by *shift. The
 * lowest bit of the result is also set when lower bits were lost, so that a later rounding is
 * right. */
static inline uint64_t u128_top(u128 a, int *shift)
{
    *shift = 64 - __builtin_clzll(a.high);
    u128 lost = u128_shl(a, 128 - (unsigned)*shift);
    return u128_shr(a, (unsigned)*shift).low | !u128_is_zero(lost);
}
static inline double u128_real(u128 a)
{
    int shift;
    if (!a.high) return (double)a.low;
    uint64_t top = u128_top(a, &shift);
    return ldexp((double)top, shift);
}
static inline float u128_real32(u128 a)
{
    int shift;
    if (!a.high) return (float)a.low;
    uint64_t top = u128_top(a, &shift);
    return ldexpf((float)top, shift);
}
static inline u128 u128_of_real(double v)
{
    uint64_t high = (uint64_t)ldexp(v, -64);
    return u128_join(high, (uint64_t)(v - ldexp((double)high, 64)));
}

#endif

static inline u128 u128_negate(u128 a) { return u128_sub(u128_of(0), a); }
static inline bool u128_is_negative(u128 a) { return u128_high(a) >> 63; }
static inline bool u128_bit(u128 a, unsigned n) { return u128_low(u128_shr(a, n)) & 1; }
