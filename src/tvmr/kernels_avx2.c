/* Kernels for AVX2: 16-bit weights against 16-bit parts of the input. */
#include "tvmr/kernels.h"

#ifdef __x86_64__
#include <immintrin.h>

#define TARGET __attribute__((target("avx2")))

TARGET static inline __m256i widen(__m256i total, __m256i a)
{
    __m256i low = _mm256_cvtepi32_epi64(_mm256_castsi256_si128(a));
    __m256i high = _mm256_cvtepi32_epi64(_mm256_extracti128_si256(a, 1));
    return _mm256_add_epi64(total, _mm256_add_epi64(low, high));
}

TARGET static int64_t row_part(const int16_t *w, const int16_t *x, size_t columns)
{
    enum { RUN = 64 }; /* 255 * 32767 * 2 * 64 is below 2^31 */
    __m256i total = _mm256_setzero_si256();
    for (size_t i = 0; i < columns;) {
        size_t end = columns - i < RUN * 16 ? columns : i + RUN * 16;
        __m256i sum = _mm256_setzero_si256();
        for (; i < end; i += 16) {
            __m256i a = _mm256_load_si256((const __m256i *)(const void *)(w + i));
            __m256i b = _mm256_load_si256((const __m256i *)(const void *)(x + i));
            sum = _mm256_add_epi32(sum, _mm256_madd_epi16(a, b));
        }
        total = widen(total, sum);
    }
    int64_t lanes[4];
    _mm256_storeu_si256((__m256i *)(void *)lanes, total);
    return lanes[0] + lanes[1] + lanes[2] + lanes[3];
}

TARGET void tvmr_rows_avx2(const struct tvmr_weights *w, const struct tvmr_input *in, size_t from,
                           size_t to, int32_t *out)
{
    for (size_t r = from; r < to; r++) {
        const int16_t *row = (const int16_t *)(const void *)(w->codes + r * w->stride);
        int64_t sum = 0;
        for (unsigned k = 0; k < in->planes; k++)
            sum += row_part(row, in->parts + k * in->stride, in->stride) *
                   (INT64_C(1) << TVMR_PART_BITS * k);
        out[r] = clamp32(sum);
    }
}
#else
void tvmr_rows_avx2(const struct tvmr_weights *w, const struct tvmr_input *in, size_t from,
                    size_t to, int32_t *out)
{
    (void)w, (void)in, (void)from, (void)to, (void)out;
}
#endif
