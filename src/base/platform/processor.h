/* Tells what the processor can do beyond the common x86-64, so that compilers and kernels can
 * choose instructions. The processor is asked once, at the first call. The compiler's
 * __builtin_cpu_supports asks everything whenever a program starts; in a virtual machine each
 * question traps to the hypervisor, which costs a tenth of a millisecond that most commands do
 * not need. */
#pragma once
#include <stdbool.h>

enum processor_ability {
    PROCESSOR_POPCNT = 1,
    PROCESSOR_LZCNT = 2,
    PROCESSOR_BMI = 4,
    PROCESSOR_BMI2 = 8,
    PROCESSOR_AVX2 = 16,
    PROCESSOR_AVX512 = 32, /* the extensions F, BW, DQ, VL and VNNI of AVX-512 */
};

#ifdef __x86_64__
/* Tells whether the processor has all of these abilities. Vectors count only when the system
 * saves their registers. */
bool processor_has(unsigned abilities);
#else
static inline bool processor_has(unsigned abilities) { return !abilities; }
#endif
