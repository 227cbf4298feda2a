/* Implements operations on 128-bit integers that the compiler calls on a 64-bit target. */
#include "arith/wide.h"

#ifdef __SIZEOF_INT128__

typedef unsigned __int128 u128;
typedef __int128 i128;

static inline uint64_t high_of(u128 x) { return (uint64_t)(x >> 64); }
static inline u128 u128_join(uint64_t high, uint64_t low) { return (u128)high << 64 | low; }

u128 __multi3(u128 a, u128 b)
{
    uint64_t low, high = wide_mul((uint64_t)a, (uint64_t)b, &low);
    return u128_join(high + high_of(a) * (uint64_t)b + (uint64_t)a * high_of(b), low);
}

static u128 u128_divide(u128 a, u128 b, u128 *rest)
{
    uint64_t bh = high_of(b), bl = (uint64_t)b, ah = high_of(a), al = (uint64_t)a, left = 0;
    if (!bh) {
        if (!bl) { /* a / 0 is all ones, as in the division instructions. */
            *rest = a;
            return ~(u128)0;
        }
        uint64_t high = ah / bl, low = wide_div(ah % bl, al, bl, &left);
        *rest = left;
        return u128_join(high, low);
    }
    if (a < b) {
        *rest = a;
        return 0;
    }
    /* The quotient has 64 bits. Dividing by the highest 64 bits of b makes it at most one too large. */
    int shift = __builtin_clzll(bh);
    uint64_t top = shift ? bh << shift | bl >> (64 - shift) : bh;
    uint64_t digit = wide_div(ah >> 1, ah << 63 | al >> 1, top, &left);
    digit >>= 63 - shift;
    if (digit) digit--;
    u128 remainder = a - __multi3(b, digit);
    if (remainder >= b) {
        remainder -= b;
        digit++;
    }
    *rest = remainder;
    return digit;
}

u128 __udivmodti4(u128 a, u128 b, u128 *rest)
{
    u128 left, quotient = u128_divide(a, b, &left);
    if (rest) *rest = left;
    return quotient;
}

u128 __udivti3(u128 a, u128 b)
{
    u128 rest;
    return u128_divide(a, b, &rest);
}

u128 __umodti3(u128 a, u128 b)
{
    u128 rest;
    u128_divide(a, b, &rest);
    return rest;
}

static inline u128 i128_absolute(i128 x) { return x < 0 ? 0 - (u128)x : (u128)x; }

i128 __divti3(i128 a, i128 b)
{
    u128 rest, quotient = u128_divide(i128_absolute(a), i128_absolute(b), &rest);
    return (i128)((a < 0) != (b < 0) ? 0 - quotient : quotient);
}

i128 __modti3(i128 a, i128 b)
{
    u128 rest;
    u128_divide(i128_absolute(a), i128_absolute(b), &rest);
    return (i128)(a < 0 ? 0 - rest : rest);
}

u128 __ashlti3(u128 x, int n)
{
    uint64_t high = high_of(x), low = (uint64_t)x;
    if (n & 64) return u128_join(low << (n & 63), 0);
    return n ? u128_join(high << n | low >> (64 - n), low << n) : x;
}

u128 __lshrti3(u128 x, int n)
{
    uint64_t high = high_of(x), low = (uint64_t)x;
    if (n & 64) return high >> (n & 63);
    return n ? u128_join(high >> n, low >> n | high << (64 - n)) : x;
}

i128 __ashrti3(i128 x, int n)
{
    int64_t high = (int64_t)high_of((u128)x);
    uint64_t low = (uint64_t)x;
    if (n & 64) return high >> (n & 63);
    return n ? (i128)u128_join((uint64_t)(high >> n), low >> n | (uint64_t)high << (64 - n)) : x;
}

i128 __muloti4(i128 a, i128 b, int *overflow)
{
    u128 x = i128_absolute(a), y = i128_absolute(b), rest;
    u128 most = (((u128)1 << 127) - 1) + ((a < 0) != (b < 0));
    *overflow = x && y > u128_divide(most, x, &rest);
    return (i128)__multi3((u128)a, (u128)b);
}

#endif
