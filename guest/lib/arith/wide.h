/* Computes products of 128 bits and their division, by operations that every target has. */
#pragma once
#include <stdint.h>

/* Computes a * b. Returns the high 64 bits; the low ones go to *lo. */
static inline uint64_t wide_mul(uint64_t a, uint64_t b, uint64_t *lo)
{
#ifdef __SIZEOF_INT128__
    unsigned __int128 product = (unsigned __int128)a * b;
    *lo = (uint64_t)product;
    return (uint64_t)(product >> 64);
#else
    uint64_t al = (uint32_t)a, ah = a >> 32, bl = (uint32_t)b, bh = b >> 32;
    uint64_t low = al * bl, mid = ah * bl + (low >> 32), other = al * bh + (uint32_t)mid;
    *lo = other << 32 | (uint32_t)low;
    return ah * bh + (mid >> 32) + (other >> 32);
#endif
}

/* Divides hi:lo by d in digits of 32 bits, for hi < d and the highest bit of d set. */
static inline uint64_t wide_div_normal(uint64_t hi, uint64_t lo, uint64_t d, uint64_t *rest)
{
    uint64_t dh = d >> 32, dl = (uint32_t)d, quotient = 0;
    for (int i = 0; i < 2; i++) {
        uint64_t digit = i ? (uint32_t)lo : lo >> 32;
        uint64_t q = hi / dh, r = hi % dh;
        while (q >> 32 || q * dl > (r << 32 | digit)) { /* q is at most two too large. */
            q--;
            r += dh;
            if (r >> 32) break;
        }
        hi = (hi << 32 | digit) - q * d;
        quotient = quotient << 32 | q;
    }
    *rest = hi;
    return quotient;
}

/* Divides hi:lo by d, for hi < d. */
static inline uint64_t wide_div(uint64_t hi, uint64_t lo, uint64_t d, uint64_t *rest)
{
    int shift = __builtin_clzll(d);
    if (shift) hi = hi << shift | lo >> (64 - shift);
    uint64_t q = wide_div_normal(hi, lo << shift, d << shift, rest);
    *rest >>= shift;
    return q;
}
