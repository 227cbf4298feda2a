/* Asks the processor by CPUID, once, which vector instructions it has, and the system by XGETBV
 * which registers it saves. On other architectures the answer is always no. */
#include "base/platform/processor.h"

#ifdef __x86_64__
#include <cpuid.h>
#include <stdatomic.h>

enum {
    ASKED = 1 << 30,
    SAVES_AVX = 0x06,    /* These bits of XCR0 say that the system saves XMM and YMM. */
    SAVES_AVX512 = 0xe6, /* These bits of XCR0 say that the system also saves masks and ZMM. */
};
#define AVX512 (0u | bit_AVX512F | bit_AVX512BW | bit_AVX512DQ | bit_AVX512VL)

static unsigned ability_when(bool is, enum processor_ability ability) { return is ? ability : 0; }

static unsigned saved_registers(unsigned features)
{
    unsigned low = 0, high;
    if (features & bit_OSXSAVE) __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

static unsigned processor_ask(void)
{
    unsigned a, b, c, d, basic = 0, more = 0, more_c = 0, extended = 0;
    if (__get_cpuid(1, &a, &b, &c, &d)) basic = c;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) more = b, more_c = c;
    if (__get_cpuid(0x80000001, &a, &b, &c, &d)) extended = c;
    unsigned saved = saved_registers(basic);
    bool avx = basic & bit_AVX && (saved & SAVES_AVX) == SAVES_AVX;
    bool avx512 = avx && (saved & SAVES_AVX512) == SAVES_AVX512;
    return ability_when(basic & bit_POPCNT, PROCESSOR_POPCNT) |
           ability_when(extended & bit_LZCNT, PROCESSOR_LZCNT) |
           ability_when(more & bit_BMI, PROCESSOR_BMI) |
           ability_when(more & bit_BMI2, PROCESSOR_BMI2) |
           ability_when(avx && more & bit_AVX2, PROCESSOR_AVX2) |
           ability_when(avx512 && (more & AVX512) == AVX512 && more_c & bit_AVX512VNNI,
                        PROCESSOR_AVX512);
}

/* Threads that ask at the same time find the same answer, so no lock is needed. */
bool processor_has(unsigned abilities)
{
    static atomic_uint known;
    unsigned has = atomic_load_explicit(&known, memory_order_relaxed);
    if (!has) {
        has = processor_ask() | ASKED;
        atomic_store_explicit(&known, has, memory_order_relaxed);
    }
    return (has & abilities) == abilities;
}
#endif
