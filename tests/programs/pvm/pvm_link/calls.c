/* Uses recursion, many arguments, calls by pointer, and a callback into an archive. */
#include "export.h"

u64 helper(u64 (*callback)(u32), u32 n);
static u32 depth;

static __attribute__((noinline)) u32 fibonacci(u32 n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static __attribute__((noinline)) u64 many(u32 a, u32 b, u32 c, u32 d, u32 e, u32 f, u32 g, u64 h,
                                          u32 i)
{
    return a + b * 3ull + c * 5ull + d * 7ull + e * 11ull + f * 13ull + g * 17ull + h * 19 +
           i * 23ull;
}

static u64 depth_step(u32 n)
{
    depth++;
    return n < 3 ? n : many(n, 2, 3, 4, 5, 6, 7, (u64)n << 33, 9) + depth_step(n - 3);
}

u64 run(void) { return fibonacci(15) * 1000003ull + helper(depth_step, 40) + depth; }
