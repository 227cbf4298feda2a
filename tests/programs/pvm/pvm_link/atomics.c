/* Uses atomic operations, each of which becomes a few plain instructions. */
#include "export.h"

static u32 word = 100;
static unsigned long wide = 5;
static signed char flag;

u64 run(void)
{
    u64 sum = 0;
    u32 expected = 100;
    for (u32 i = 0; i < 20; i++) {
        sum = sum * 31 + __atomic_fetch_add(&word, 7 * i, __ATOMIC_SEQ_CST);
        sum = sum * 31 + __atomic_fetch_sub(&wide, 3, __ATOMIC_ACQUIRE);
        sum = sum * 31 + __atomic_fetch_or(&word, 1u << i, __ATOMIC_SEQ_CST);
        sum = sum * 31 + __atomic_fetch_and(&word, ~(4u << i), __ATOMIC_SEQ_CST);
        sum = sum * 31 + __atomic_fetch_xor(&wide, i * 0x01010101u, __ATOMIC_SEQ_CST);
        sum = sum * 31 + __atomic_exchange_n(&wide, (unsigned long)sum & 0xffff, __ATOMIC_SEQ_CST);
        sum = sum * 31 + __atomic_compare_exchange_n(&word, &expected, 7 + i, 0, __ATOMIC_SEQ_CST,
                                                     __ATOMIC_SEQ_CST);
        sum = sum * 31 + (u64)__atomic_test_and_set(&flag, __ATOMIC_SEQ_CST);
    }
    return sum + word + (u32)wide;
}
