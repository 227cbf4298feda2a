/* Implements the kernels for AVX2: codes of two bits with byte planes, and 16-bit weights with
 * 16-bit parts of the input. kernels.h explains the forms. */
#include "tvmr/kernels/arithmetic.h"
#include "tvmr/kernels/kernels.h"

#ifdef __x86_64__
#include <immintrin.h>

#define TARGET __attribute__((target("avx2")))
#define INLINE static inline __attribute__((always_inline)) TARGET

/* The constant is the most columns whose sums fit 32 bits: 255 * 32768 * 1024 / 8 is below 2^31. */
enum { RUN = 1024 };

INLINE __m256i avx2_load(const int16_t *p)
{
    return _mm256_load_si256((const __m256i *)(const void *)p);
}

INLINE int64_t avx2_total(__m256i a)
{
    __m256i low = _mm256_cvtepi32_epi64(_mm256_castsi256_si128(a));
    __m256i high = _mm256_cvtepi32_epi64(_mm256_extracti128_si256(a, 1));
    __m256i all = _mm256_add_epi64(low, high);
    __m128i half = _mm_add_epi64(_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1));
    return _mm_cvtsi128_si64(half) + _mm_extract_epi64(half, 1);
}

INLINE __m256i add_products(__m256i sum, __m256i a, __m256i b)
{
    return _mm256_add_epi32(sum, _mm256_madd_epi16(a, b));
}

/* Adds up the parts. Part k counts 2^16 times as much as the part before; the lower of two parts lacks a
 * constant. */
INLINE int32_t avx2_finish(const struct tvmr_weights *w, size_t row, const int64_t sums[2],
                           int parts)
{
    if (parts == 1) return ops_clamp32(sums[0]);
    return ops_clamp32(sums[0] + sums[1] * (INT64_C(1) << TVMR_PART_BITS) +
                       w->sums[row] * TVMR_PART_FLIP);
}

/* Finds the rows of a group. The last group repeats its first row when there are no more rows. */
INLINE void row_codes(const struct tvmr_weights *w, size_t r, size_t to, int rows,
                      const int16_t **codes)
{
    for (size_t i = 0; i < (size_t)rows; i++)
        codes[i] =
            (const int16_t *)(const void *)(w->codes + (r + (r + i < to ? i : 0)) * w->stride);
}

INLINE __m256i load_bytes(const uint8_t *p)
{
    return _mm256_load_si256((const __m256i *)(const void *)p);
}

/* Multiplies the codes of one quarter by bytes of the input and adds neighbours. The results are
 * at most 2 * 2 * 128. */
INLINE __m256i avx2_quarter(__m256i v, int q, __m256i x)
{
    return _mm256_maddubs_epi16(_mm256_and_si256(_mm256_srli_epi16(v, 2 * q), _mm256_set1_epi8(3)),
                                x);
}

/* Computes four rows of a product with one plane of the input. */
TARGET static void two_plane(const uint8_t *const codes[4], size_t stride, const uint8_t *plane,
                             int64_t sums[4])
{
    __m256i a[4], ones = _mm256_set1_epi16(1);
    for (int i = 0; i < 4; i++) a[i] = _mm256_setzero_si256();
    for (size_t at = 0; at < stride; at += 32) {
        __m256i x[4];
        for (size_t q = 0; q < 4; q++) x[q] = load_bytes(plane + at / 64 * 256 + at % 64 + 64 * q);
        for (int i = 0; i < 4; i++) {
            __m256i v = load_bytes(codes[i] + at);
            __m256i low = _mm256_add_epi16(avx2_quarter(v, 0, x[0]), avx2_quarter(v, 1, x[1]));
            __m256i high = _mm256_add_epi16(avx2_quarter(v, 2, x[2]), avx2_quarter(v, 3, x[3]));
            a[i] = add_products(a[i], _mm256_add_epi16(low, high), ones);
        }
    }
    for (int i = 0; i < 4; i++) sums[i] = avx2_total(a[i]);
}

TARGET static void rows_two(const struct tvmr_weights *w, const struct tvmr_input *in, size_t from,
                            size_t to, int32_t *out)
{
    for (size_t r = from; r < to; r += 4) {
        const uint8_t *codes[4];
        int64_t dot[4] = {0}, correction = 0;
        for (size_t i = 0; i < 4; i++) codes[i] = w->codes + (r + (r + i < to ? i : 0)) * w->stride;
        for (unsigned k = 0; k < in->planes; k++) {
            int64_t sums[4];
            two_plane(codes, w->stride, in->bytes + k * in->stride, sums);
            for (int i = 0; i < 4; i++) dot[i] += sums[i] * (INT64_C(1) << 8 * k);
            if (k)
                correction = correction * 256 + 128; /* Bytes of planes below the highest are
                                                         * stored with 128 subtracted. */
        }
        for (size_t i = 0; i < 4 && r + i < to; i++)
            out[r + i] = ops_clamp32(w->magnitude *
                                     (dot[i] + correction * w->sums[r + i] - w->offset * in->sum));
    }
}

#define WIDE_ROWS(NAME, ROWS, PARTS)                                                               \
    TARGET static void NAME(const struct tvmr_weights *w, const struct tvmr_input *in,             \
                            size_t from, size_t to, int32_t *out)                                  \
    {                                                                                              \
        for (size_t r = from; r < to; r += ROWS) {                                                 \
            const int16_t *codes[ROWS];                                                            \
            int64_t dot[ROWS][2] = {{0}};                                                          \
            row_codes(w, r, to, ROWS, codes);                                                      \
            for (size_t at = 0; at < in->stride;) {                                                \
                size_t end = in->stride - at < RUN ? in->stride : at + RUN;                        \
                __m256i a[ROWS][PARTS];                                                            \
                for (int i = 0; i < ROWS; i++)                                                     \
                    for (int k = 0; k < PARTS; k++) a[i][k] = _mm256_setzero_si256();              \
                for (; at < end; at += 16) {                                                       \
                    __m256i x[PARTS];                                                              \
                    for (int k = 0; k < PARTS; k++)                                                \
                        x[k] = avx2_load(in->parts + (size_t)k * in->stride + at);                 \
                    for (int i = 0; i < ROWS; i++)                                                 \
                        for (int k = 0; k < PARTS; k++)                                            \
                            a[i][k] = add_products(a[i][k], avx2_load(codes[i] + at), x[k]);       \
                }                                                                                  \
                for (int i = 0; i < ROWS; i++)                                                     \
                    for (int k = 0; k < PARTS; k++) dot[i][k] += avx2_total(a[i][k]);              \
            }                                                                                      \
            for (size_t i = 0; i < ROWS && r + i < to; i++)                                        \
                out[r + i] = avx2_finish(w, r + i, dot[i], PARTS);                                 \
        }                                                                                          \
    }

WIDE_ROWS(rows_wide_1, 4, 1)
WIDE_ROWS(rows_wide_2, 4, 2)

/* Picks, for each weight, the version of the input that belongs to its temperature. */
INLINE __m256i avx2_pick(const int16_t *x, __m256i odd, __m256i high)
{
    __m256i low = _mm256_blendv_epi8(avx2_load(x), avx2_load(x + 32), odd);
    __m256i up = _mm256_blendv_epi8(avx2_load(x + 64), avx2_load(x + 96), odd);
    return _mm256_blendv_epi8(low, up, high);
}

/* Adds the signed quotients that remain from the division of each term. Weights with the
 * temperature HOT have none. */
INLINE __m256i add_rests(__m256i sum, const int16_t *x, __m256i v, __m256i odd, __m256i high)
{
    __m256i low = _mm256_and_si256(avx2_load(x), odd);
    __m256i up = _mm256_blendv_epi8(avx2_load(x + 32), avx2_load(x + 64), odd);
    __m256i rest = _mm256_blendv_epi8(low, up, high);
    __m256i quotient = _mm256_mulhi_epu16(_mm256_abs_epi16(v), rest);
    return add_products(sum, quotient, _mm256_sign_epi16(avx2_load(x + 96), v));
}

#define GATED_ROWS(NAME, PARTS, REST)                                                              \
    TARGET static void NAME(const struct tvmr_weights *w, const struct tvmr_input *in,             \
                            size_t from, size_t to, int32_t *out)                                  \
    {                                                                                              \
        enum { ROWS = 2, BLOCK = 32 * (4 * PARTS + 4 * REST), SUMS = PARTS + REST };               \
        for (size_t r = from; r < to; r += ROWS) {                                                 \
            const int16_t *codes[ROWS];                                                            \
            int64_t dot[ROWS][3] = {{0}};                                                          \
            row_codes(w, r, to, ROWS, codes);                                                      \
            for (size_t at = 0; at < in->stride;) {                                                \
                size_t end = in->stride - at < RUN ? in->stride : at + RUN;                        \
                __m256i sum[ROWS][SUMS];                                                           \
                for (int i = 0; i < ROWS; i++)                                                     \
                    for (int k = 0; k < SUMS; k++) sum[i][k] = _mm256_setzero_si256();             \
                for (; at < end; at += 16) {                                                       \
                    const int16_t *x = in->parts + at / 32 * BLOCK + at % 32;                      \
                    for (int i = 0; i < ROWS; i++) {                                               \
                        __m256i q = avx2_load(codes[i] + at), v = _mm256_srai_epi16(q, 2);         \
                        __m256i odd = _mm256_srai_epi16(_mm256_slli_epi16(q, 15), 15);             \
                        __m256i high = _mm256_srai_epi16(_mm256_slli_epi16(q, 14), 15);            \
                        for (int k = 0; k < PARTS; k++)                                            \
                            sum[i][k] =                                                            \
                                add_products(sum[i][k], v, avx2_pick(x + 128 * k, odd, high));     \
                        if (REST)                                                                  \
                            sum[i][PARTS] =                                                        \
                                add_rests(sum[i][PARTS], x + 128 * PARTS, v, odd, high);           \
                    }                                                                              \
                }                                                                                  \
                for (int i = 0; i < ROWS; i++)                                                     \
                    for (int k = 0; k < SUMS; k++) dot[i][k] += avx2_total(sum[i][k]);             \
            }                                                                                      \
            for (size_t i = 0; i < ROWS && r + i < to; i++) {                                      \
                if (REST) dot[i][0] += dot[i][PARTS];                                              \
                out[r + i] = avx2_finish(w, r + i, dot[i], PARTS);                                 \
            }                                                                                      \
        }                                                                                          \
    }

GATED_ROWS(rows_core_1, 1, 1)
GATED_ROWS(rows_core_2, 2, 1)
GATED_ROWS(rows_extension_1, 1, 0)
GATED_ROWS(rows_extension_2, 2, 0)

#include "tvmr/kernels/product_input.inc"

void tvmr_input_avx2(struct tvmr_input *in, const struct tvmr_weights *w, const int32_t *x,
                     size_t count)
{
    input_fill(in, w, x, count);
}

void tvmr_rows_avx2(const struct tvmr_weights *w, const struct tvmr_input *in, size_t from,
                    size_t to, int32_t *out)
{
    static tvmr_kernel *const kernels[][TVMR_PLANES] = {
        [TVMR_FORM_TWO] = {rows_two, rows_two, rows_two, rows_two},
        [TVMR_FORM_WIDE] = {rows_wide_1, rows_wide_2},
        [TVMR_FORM_CORE] = {rows_core_1, rows_core_2},
        [TVMR_FORM_EXTENSION] = {rows_extension_1, rows_extension_2},
    };
    kernels[w->form][in->planes - 1](w, in, from, to, out);
}
#endif
