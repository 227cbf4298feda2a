/* The same program as calls.pvmasm. */
#include "bench.h"

typedef u32 visit(u32 depth, u32 seed);
static visit both, either, pair;
static visit *table[4];

static u32 call(u32 depth, u32 seed) { return table[seed >> 4 & 3](depth, seed); }

static u32 both(u32 depth, u32 seed)
{
    if (!depth) return seed & 15;
    u32 first = call(depth - 1, (seed * 5 + 1) & 0xffffff);
    return first + call(depth - 1, (seed * 3 + 2) & 0xffffff);
}

static u32 either(u32 depth, u32 seed)
{
    if (!depth) return seed & 15;
    return call(depth - 1, seed & 64 ? seed ^ 0x5555 : (seed * 9 + 7) & 0xffffff);
}

static u32 pair(u32 depth, u32 seed)
{
    if (!depth) return seed & 15;
    return call(depth - 1, (seed + 77) & 0xffffff) ^ seed;
}

void initialize(void)
{
    table[0] = table[3] = both;
    table[1] = either;
    table[2] = pair;
}
u64 run(void) { return both(34, 1) & 0x7fffffff; }
