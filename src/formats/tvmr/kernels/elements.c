/* Compiles the loops over elements once for each instruction set. gcc and clang vectorise all of them for AVX2 and
 * AVX-512 (gcc -fopt-info-vec shows it), so that no loop is written by hand. */
#include "tvmr/kernels/elements.h"
#include "tvmr/kernels/kernels.h"

static inline int32_t elements_limit(int32_t v, int32_t low, int32_t high)
{
    return v < low ? low : v > high ? high : v;
}

/* Saturates a sum. `sum` is a + b, wrapped; it has overflowed when a and b have the same sign and it has the
 * other. */
static inline int32_t elements_saturate(int32_t a, int32_t b, uint32_t sum)
{
    int32_t most = (a >> 31) ^ INT32_MAX;
    return (~(a ^ b) & (a ^ (int32_t)sum)) < 0 ? most : (int32_t)sum;
}

/* Computes v * factor / (least + |v|), rounded to zero. It uses floating point, which divides whole vectors. The
 * result is exact, because the quotients are below 128 and either whole or at least 1 / 2304 away from the next
 * whole number. */
static inline int32_t elements_quotient(int32_t v, int32_t factor, int32_t least)
{
    int32_t magnitude = v < 0 ? -v : v;
    return (int32_t)((float)(v * factor) / (float)(least + magnitude));
}

static inline int32_t tanh_around_128(int32_t c)
{
    int32_t d = 64 + ((c < 0 ? -c : c) >> 1);
    return elements_limit((int32_t)((float)(c * 64) / (float)d) + 128, 0, 255);
}

/* Computes v * factor >> 8 for factors up to 255 without a wider product. */
static inline int32_t times_256th(int32_t v, int32_t factor)
{
    return (v >> 8) * factor + ((v & 255) * factor >> 8);
}

/* Computes v * factor / 256, rounded to zero, for factors up to 255 without a wider product. */
static inline int32_t times_256th_to_zero(int32_t v, int32_t factor)
{
    uint32_t magnitude = v < 0 ? 0u - (uint32_t)v : (uint32_t)v, f = (uint32_t)factor;
    uint32_t r = (magnitude >> 8) * f + ((magnitude & 255) * f >> 8);
    return (int32_t)(v < 0 ? 0u - r : r);
}

#define TARGET
#define SET(name) plain_##name
#include "tvmr/kernels/elements_loops.inc"
#undef TARGET
#undef SET

#ifdef __x86_64__
#define TARGET __attribute__((target("avx2")))
#define SET(name) avx2_##name
#include "tvmr/kernels/elements_loops.inc"
#undef TARGET
#undef SET

#define TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq")))
#define SET(name) avx512_##name
#include "tvmr/kernels/elements_loops.inc"
#else
#define avx2_loops plain_loops
#define avx512_loops plain_loops
#endif

const struct tvmr_elements *const tvmr_elements[] = {[TVMR_KERNELS_PLAIN] = &plain_loops,
                                                     [TVMR_KERNELS_AVX2] = &avx2_loops,
                                                     [TVMR_KERNELS_AVX512] = &avx512_loops};
