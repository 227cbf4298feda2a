/* Is a member of an archive that calls.c needs, with a function that nothing needs. */
#include "export.h"

__attribute__((weak)) u32 factor = 3;

u64 helper(u64 (*callback)(u32), u32 n)
{
    u64 sum = factor;
    for (u32 i = 0; i < n; i++) sum = sum * 5 + callback(i);
    return sum;
}
