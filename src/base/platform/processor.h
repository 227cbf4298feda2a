/* What the processor can do beyond the common x86-64: what compiled code and kernels choose by. Asked once, when
 * somebody wants to know. The compiler's __builtin_cpu_supports asks everything whenever a program starts, and in a
 * virtual machine each question leaves it: a tenth of a millisecond that most commands have no use for. */
#pragma once
#include <stdbool.h>

enum processor_ability {
    PROCESSOR_POPCNT = 1,
    PROCESSOR_LZCNT = 2,
    PROCESSOR_BMI = 4,
    PROCESSOR_BMI2 = 8,
    PROCESSOR_AVX2 = 16,
    PROCESSOR_AVX512 = 32, /* F, BW, DQ, VL and VNNI */
};

#ifdef __x86_64__
/* All of these; vectors only where the system keeps their registers. */
bool processor_has(unsigned abilities);
#else
static inline bool processor_has(unsigned abilities) { return !abilities; }
#endif
