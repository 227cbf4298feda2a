/* The same program as search.pvmasm. */
#include "bench.h"

static u32 words[65536];

void initialize(void)
{
    for (u32 i = 0; i < 65536; i++) words[i] = 3 * i + 1;
}

u64 run(void)
{
    usize sum = 0, state = 12345;
    for (u32 i = 0; i < 3000000; i++) {
        state = state * 1103515245 + 12345;
        u32 key = state >> 8 & 0x3ffff;
        const u32 *at = words;
        for (u32 half = 32768; half; half /= 2) at = key < at[half] ? at : at + half;
        sum += (usize)(at - words) * 4;
    }
    return sum & 0x7fffffff;
}
