/* Implements operations on 64-bit integers that the compiler calls on a 32-bit target. */
#include <stdint.h>

#if __SIZEOF_POINTER__ == 4 || defined(PENTA_TEST)

static uint64_t u64_divide(uint64_t a, uint64_t b, uint64_t *rest)
{
    if (a < b) {
        *rest = a;
        return 0;
    }
    if (!(b >> 32)) { /* a / 0 is all ones, as in the division instructions. */
        if (!b) {
            *rest = a;
            return UINT64_MAX;
        }
        uint32_t d = (uint32_t)b, high = (uint32_t)(a >> 32) / d;
        uint32_t left = (uint32_t)(a >> 32) % d, low = (uint32_t)a;
        uint32_t quotient = 0;
        for (int i = 31; i >= 0; i--) {
            uint32_t carry = left >> 31;
            left = left << 1 | (low >> i & 1);
            if (carry || left >= d) {
                left -= d;
                quotient |= (uint32_t)1 << i;
            }
        }
        *rest = left;
        return (uint64_t)high << 32 | quotient;
    }
    uint64_t quotient = 0; /* The quotient has at most 32 bits. */
    int shift = __builtin_clz((uint32_t)(b >> 32)) - __builtin_clz((uint32_t)(a >> 32));
    for (b <<= shift; shift >= 0; shift--, b >>= 1) {
        quotient <<= 1;
        if (a >= b) {
            a -= b;
            quotient |= 1;
        }
    }
    *rest = a;
    return quotient;
}

uint64_t __udivmoddi4(uint64_t a, uint64_t b, uint64_t *rest)
{
    uint64_t left, quotient = u64_divide(a, b, &left);
    if (rest) *rest = left;
    return quotient;
}

uint64_t __udivdi3(uint64_t a, uint64_t b)
{
    uint64_t rest;
    return u64_divide(a, b, &rest);
}

uint64_t __umoddi3(uint64_t a, uint64_t b)
{
    uint64_t rest;
    u64_divide(a, b, &rest);
    return rest;
}

static uint64_t i64_absolute(int64_t x) { return x < 0 ? 0 - (uint64_t)x : (uint64_t)x; }

int64_t __divdi3(int64_t a, int64_t b)
{
    uint64_t rest, quotient = u64_divide(i64_absolute(a), i64_absolute(b), &rest);
    return (int64_t)((a < 0) != (b < 0) ? 0 - quotient : quotient);
}

int64_t __moddi3(int64_t a, int64_t b)
{
    uint64_t rest;
    u64_divide(i64_absolute(a), i64_absolute(b), &rest);
    return (int64_t)(a < 0 ? 0 - rest : rest);
}

uint64_t __muldi3(uint64_t a, uint64_t b)
{
    uint32_t al = (uint32_t)a, ah = (uint32_t)(a >> 32), bl = (uint32_t)b, bh = (uint32_t)(b >> 32);
    uint64_t low = (uint64_t)al * bl;
    return ((uint64_t)(ah * bl + al * bh + (uint32_t)(low >> 32)) << 32) | (uint32_t)low;
}

uint64_t __ashldi3(uint64_t x, int n)
{
    uint32_t low = (uint32_t)x, high = (uint32_t)(x >> 32);
    if (n & 32) return (uint64_t)(low << (n & 31)) << 32;
    if (!n) return x;
    return (uint64_t)(high << n | low >> (32 - n)) << 32 | low << n;
}

uint64_t __lshrdi3(uint64_t x, int n)
{
    uint32_t low = (uint32_t)x, high = (uint32_t)(x >> 32);
    if (n & 32) return high >> (n & 31);
    if (!n) return x;
    return (uint64_t)(high >> n) << 32 | (low >> n | high << (32 - n));
}

int64_t __ashrdi3(int64_t x, int n)
{
    uint32_t low = (uint32_t)x;
    int32_t high = (int32_t)(x >> 32);
    if (n & 32) return high >> (n & 31);
    if (!n) return x;
    return (int64_t)((uint64_t)(uint32_t)(high >> n) << 32 |
                     (low >> n | (uint32_t)high << (32 - n)));
}

#endif

int64_t __mulodi4(int64_t a, int64_t b, int *overflow)
{
    uint64_t x = a < 0 ? 0 - (uint64_t)a : (uint64_t)a, y = b < 0 ? 0 - (uint64_t)b : (uint64_t)b;
    uint64_t most = (uint64_t)INT64_MAX + ((a < 0) != (b < 0));
    *overflow = x && y > most / x;
    return (int64_t)((uint64_t)a * (uint64_t)b);
}
