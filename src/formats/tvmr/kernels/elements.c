/* Loops over elements, once for each instruction set. Both compilers vectorise all of them with
 * AVX2 and AVX-512 (gcc: -fopt-info-vec), so that nothing here is written by hand. */
#include "tvmr/kernels/elements.h"
#include "tvmr/kernels/kernels.h"

static inline int32_t elements_limit(int32_t v, int32_t low, int32_t high)
{
    return v < low ? low : v > high ? high : v;
}

/* sum is a + b, wrapped: it overflowed if a and b have the same sign and sum has the other. */
static inline int32_t elements_saturate(int32_t a, int32_t b, uint32_t sum)
{
    int32_t most = (a >> 31) ^ INT32_MAX;
    return (~(a ^ b) & (a ^ (int32_t)sum)) < 0 ? most : (int32_t)sum;
}

/* v * factor / (least + |v|), to zero. Floating point divides whole vectors; here it is exact: the
 * quotients are below 128 and at least 1 / 2304 away from the next whole number, or whole. */
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

/* v * factor >> 8 for factors up to 255, without a wider product. */
static inline int32_t times_256th(int32_t v, int32_t factor)
{
    return (v >> 8) * factor + ((v & 255) * factor >> 8);
}

/* The same, rounded to zero. */
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
