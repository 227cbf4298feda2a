/* Computes what each instruction gives for operands at the edges. */
#include "export.h"

static const u32 words[] = {0,          1,          2,          31,         32,
                            0x7fffffff, 0x80000000, 0xffffffff, 0x12345678, 0xff00ff00};
static volatile u32 seed = 12345;

static __attribute__((noinline)) u64 mix(u64 sum, u64 value)
{
    return (sum ^ value) * 0x100000001b3ull;
}

static __attribute__((noinline)) u64 pairs(u64 sum, u32 a, u32 b)
{
    int x = (int)a, y = (int)b;
    sum = mix(sum, a + b);
    sum = mix(sum, a - b);
    sum = mix(sum, a * b);
    sum = mix(sum, (u64)a * b);
    sum = mix(sum, (u64)((long long)x * y));
    sum = mix(sum, b ? a / b : 7);
    sum = mix(sum, b ? a % b : 7);
    sum = mix(sum, b && b != 0xffffffff ? (u32)(x / y) : 7);
    sum = mix(sum, b && b != 0xffffffff ? (u32)(x % y) : 7);
    sum = mix(sum, a << (b & 31));
    sum = mix(sum, a >> (b & 31));
    sum = mix(sum, (u32)(x >> (b & 31)));
    sum = mix(sum, (a & ~b) | (a ^ ~b));
    sum = mix(sum, x < y ? a : b);
    sum = mix(sum, a > b ? a : b);
    sum = mix(sum, a < 100 ? 3 : b > 1000 ? 5 : 9);
    sum = mix(sum, __builtin_rotateleft32(a, b & 31));
    sum = mix(sum, __builtin_rotateright64((u64)a << 7, b & 63));
    return sum;
}

static __attribute__((noinline)) u64 bits(u64 sum, u32 a)
{
    u64 wide = (u64)a << 29 ^ a;
    sum = mix(sum, a ? (u32)__builtin_clz(a) : 32);
    sum = mix(sum, a ? (u32)__builtin_ctz(a) : 32);
    sum = mix(sum, (u32)__builtin_popcount(a));
    sum = mix(sum, (u32)__builtin_popcountll(wide));
    sum = mix(sum, wide ? (u32)__builtin_clzll(wide) : 64);
    sum = mix(sum, __builtin_bswap32(a));
    sum = mix(sum, __builtin_bswap64(wide));
    sum = mix(sum, (u64)(long long)(signed char)a);
    sum = mix(sum, (u64)(long long)(short)a);
    sum = mix(sum, (unsigned short)a);
    return mix(sum, (u64)(int)a >> 3);
}

u64 run(void)
{
    u64 sum = 0xcbf29ce484222325ull;
    for (u32 i = 0; i < sizeof words / sizeof *words; i++) {
        for (u32 k = 0; k < sizeof words / sizeof *words; k++) sum = pairs(sum, words[i], words[k]);
        sum = bits(sum, words[i] ^ seed);
    }
    return sum;
}
