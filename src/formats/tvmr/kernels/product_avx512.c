/* Implements the kernels for AVX-512 with VNNI. kernels.h explains the forms. */
#include "tvmr/kernels/kernels.h"

#ifdef __x86_64__
#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,bmi2")))
#define INLINE static inline __attribute__((always_inline)) TARGET

/* Adds sixteen 32-bit sums to eight 64-bit sums. */
INLINE __m512i avx512_widen(__m512i total, __m512i a)
{
    __m512i low = _mm512_cvtepi32_epi64(_mm512_castsi512_si256(a));
    __m512i high = _mm512_cvtepi32_epi64(_mm512_extracti64x4_epi64(a, 1));
    return _mm512_add_epi64(total, _mm512_add_epi64(low, high));
}

/* Adds up each of four vectors, as far as 32 bits are enough. The result has four lanes for each
 * vector. */
INLINE __m512i sums_in_lanes(__m512i a, __m512i b, __m512i c, __m512i d)
{
    __m512i ab = _mm512_add_epi32(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
    __m512i cd = _mm512_add_epi32(_mm512_unpacklo_epi32(c, d), _mm512_unpackhi_epi32(c, d));
    return _mm512_add_epi32(_mm512_unpacklo_epi64(ab, cd), _mm512_unpackhi_epi64(ab, cd));
}

/* Adds up four vectors whose sums fit 32 bits. */
INLINE __m256i avx512_sum4(__m512i a, __m512i b, __m512i c, __m512i d)
{
    __m512i all = sums_in_lanes(a, b, c, d);
    __m256i half = _mm256_add_epi32(_mm512_castsi512_si256(all), _mm512_extracti64x4_epi64(all, 1));
    return _mm256_cvtepi32_epi64(
        _mm_add_epi32(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1)));
}

/* Adds up four vectors when only a quarter of a sum fits 32 bits. */
INLINE __m256i sum4_wide(__m512i a, __m512i b, __m512i c, __m512i d)
{
    __m512i all = avx512_widen(_mm512_setzero_si512(), sums_in_lanes(a, b, c, d));
    return _mm256_add_epi64(_mm512_castsi512_si256(all), _mm512_extracti64x4_epi64(all, 1));
}

/* Computes magnitude * (dot + C * sum of codes - offset * sum of x), clamped, for the rows row .. row + n - 1. */
INLINE void avx512_finish(const struct tvmr_weights *w, const struct tvmr_input *in, size_t row,
                          size_t n, __m256i dot, int64_t correction, int32_t *out)
{
    __m256i sums = _mm256_loadu_si256((const __m256i *)(const void *)(w->sums + row));
    if (correction)
        dot = _mm256_add_epi64(dot, _mm256_mullo_epi64(sums, _mm256_set1_epi64x(correction)));
    dot = _mm256_sub_epi64(dot, _mm256_set1_epi64x(w->offset * in->sum));
    if (w->magnitude != 1) dot = _mm256_mullo_epi64(dot, _mm256_set1_epi64x(w->magnitude));
    _mm_mask_storeu_epi32(out + row, (__mmask8)((1u << n) - 1), _mm256_cvtsepi64_epi32(dot));
}

/* The amounts to add for planes below the highest, whose bytes have 128 subtracted. */
static const int64_t plane_correction[] = {0, 0x80, 0x8080, 0x808080};

/* A group is up to four rows. The last group repeats its first row when there are no more rows. */
struct group {
    size_t n, row[4];
};

INLINE struct group group_at(size_t r, size_t to)
{
    struct group g = {.n = to - r < 4 ? to - r : 4};
    for (size_t i = 0; i < 4; i++) g.row[i] = r + (i < g.n ? i : 0);
    return g;
}

enum { AHEAD = 4096 }; /* how many bytes ahead weights are prefetched */

INLINE __m256i two_plane(const uint8_t *const codes[4], const uint8_t *x, size_t blocks)
{
    const __m512i quarter[] = {_mm512_set1_epi8(0x03), _mm512_set1_epi8(0x0c),
                               _mm512_set1_epi8(0x30), _mm512_set1_epi8((char)0xc0)};
    __m512i a[4][4];
    for (int i = 0; i < 4; i++)
        for (int q = 0; q < 4; q++) a[i][q] = _mm512_setzero_si512();
    for (size_t b = 0; b < blocks; b++, x += 256) {
        __m512i part[4];
        for (int q = 0; q < 4; q++) part[q] = _mm512_load_si512(x + 64 * q);
        for (int i = 0; i < 4; i++) {
            __m512i v = _mm512_load_si512(codes[i] + b * 64);
            _mm_prefetch((const char *)codes[i] + b * 64 + AHEAD, _MM_HINT_T0);
            for (int q = 0; q < 4; q++)
                a[i][q] = _mm512_dpbusd_epi32(a[i][q], _mm512_and_si512(v, quarter[q]), part[q]);
        }
    }
    __m512i sum[4];
    for (int i = 0; i < 4; i++) {
        sum[i] = _mm512_add_epi32(a[i][0], _mm512_srai_epi32(a[i][1], 2));
        __m512i upper = _mm512_add_epi32(a[i][2], _mm512_srai_epi32(a[i][3], 2));
        sum[i] = _mm512_add_epi32(sum[i], _mm512_srai_epi32(upper, 4));
    }
    return avx512_sum4(sum[0], sum[1], sum[2], sum[3]);
}

TARGET static void rows_two(const struct tvmr_weights *w, const struct tvmr_input *in, size_t from,
                            size_t to, int32_t *out)
{
    for (size_t r = from; r < to; r += 4) {
        struct group g = group_at(r, to);
        const uint8_t *codes[4];
        for (int i = 0; i < 4; i++) codes[i] = w->codes + g.row[i] * w->stride;
        __m256i dot = _mm256_setzero_si256();
        for (unsigned k = 0; k < in->planes; k++) {
            __m256i sum = two_plane(codes, in->bytes + k * in->stride, w->stride / 64);
            dot = _mm256_add_epi64(dot, _mm256_sll_epi64(sum, _mm_cvtsi32_si128((int)(8 * k))));
        }
        avx512_finish(w, in, r, g.n, dot, plane_correction[in->planes - 1], out);
    }
}

/* Computes four rows with PLANES planes, AT_ONCE rows at a time, as many as the registers hold.
 * For NINE the bytes count twice, and the lowest bits are added. A byte of lowest bits serves
 * four rows in one chunk and, with its upper half, in the next. The bits are masked in place,
 * and the sums are shifted at the end. */
#define BYTE_ROWS(NAME, PLANES, AT_ONCE, NINE)                                                     \
    INLINE __m256i NAME(const struct tvmr_weights *w, const struct tvmr_input *in,                 \
                        const struct group *g)                                                     \
    {                                                                                              \
        const uint8_t *lows = NINE ? w->lows + g->row[0] / 4 * w->chunks * 32 : NULL;              \
        __m512i sums[4][PLANES];                                                                   \
        for (int first = 0; first < 4; first += AT_ONCE) {                                         \
            __m512i high[AT_ONCE][PLANES], low[AT_ONCE][PLANES];                                   \
            const uint8_t *codes[AT_ONCE];                                                         \
            for (int i = 0; i < AT_ONCE; i++) {                                                    \
                codes[i] = w->codes + g->row[first + i] * w->stride;                               \
                for (int k = 0; k < PLANES; k++) high[i][k] = low[i][k] = _mm512_setzero_si512();  \
            }                                                                                      \
            for (size_t c = 0; c < w->chunks; c += 1 + NINE) {                                     \
                __m512i bits = _mm512_setzero_si512();                                             \
                if (NINE) bits = _mm512_load_si512(lows + c * 32);                                 \
                for (size_t half = 0; half <= NINE; half++) {                                      \
                    size_t at = (c + half) * 64;                                                   \
                    __m512i x[PLANES];                                                             \
                    for (int k = 0; k < PLANES; k++)                                               \
                        x[k] = _mm512_load_si512(in->bytes + (size_t)k * in->stride + at);         \
                    if (half) bits = _mm512_srli_epi16(bits, 4);                                   \
                    for (int i = 0; i < AT_ONCE; i++) {                                            \
                        __m512i v = _mm512_load_si512(codes[i] + at);                              \
                        for (int k = 0; k < PLANES; k++)                                           \
                            high[i][k] = _mm512_dpbusd_epi32(high[i][k], v, x[k]);                 \
                        if (!NINE) continue;                                                       \
                        __m512i bit =                                                              \
                            _mm512_and_si512(bits, _mm512_set1_epi8((char)(1 << (first + i))));    \
                        for (int k = 0; k < PLANES; k++)                                           \
                            low[i][k] = _mm512_dpbusd_epi32(low[i][k], bit, x[k]);                 \
                    }                                                                              \
                }                                                                                  \
            }                                                                                      \
            for (int i = 0; i < AT_ONCE; i++)                                                      \
                for (int k = 0; k < PLANES; k++)                                                   \
                    sums[first + i][k] =                                                           \
                        NINE ? avx512_both(high[i][k], low[i][k], first + i) : high[i][k];         \
        }                                                                                          \
        __m256i dot = _mm256_setzero_si256();                                                      \
        for (int k = 0; k < PLANES; k++)                                                           \
            dot = _mm256_add_epi64(                                                                \
                dot, _mm256_slli_epi64(                                                            \
                         avx512_sum4(sums[0][k], sums[1][k], sums[2][k], sums[3][k]), 8 * k));     \
        return dot;                                                                                \
    }

INLINE __m512i avx512_both(__m512i high, __m512i low, int row)
{
    return _mm512_add_epi32(_mm512_slli_epi32(high, 1), _mm512_srai_epi32(low, (unsigned)row));
}

BYTE_ROWS(eight_1, 1, 4, 0)
BYTE_ROWS(eight_2, 2, 4, 0)
BYTE_ROWS(eight_3, 3, 4, 0)
BYTE_ROWS(eight_4, 4, 4, 0)
BYTE_ROWS(nine_1, 1, 4, 1)
BYTE_ROWS(nine_2, 2, 4, 1)
BYTE_ROWS(nine_3, 3, 2, 1)
BYTE_ROWS(nine_4, 4, 2, 1)

/* The whole loop is written once for each kind, so that the compiler keeps the sums in registers. */
#define BYTE_LOOP(NAME, PLANES, ROWS)                                                              \
    TARGET static void NAME(const struct tvmr_weights *w, const struct tvmr_input *in,             \
                            size_t from, size_t to, int32_t *out)                                  \
    {                                                                                              \
        for (size_t r = from; r < to; r += 4) {                                                    \
            struct group g = group_at(r, to);                                                      \
            avx512_finish(w, in, r, g.n, ROWS(w, in, &g), plane_correction[PLANES - 1], out);      \
        }                                                                                          \
    }

BYTE_LOOP(rows_eight_1, 1, eight_1)
BYTE_LOOP(rows_eight_2, 2, eight_2)
BYTE_LOOP(rows_eight_3, 3, eight_3)
BYTE_LOOP(rows_eight_4, 4, eight_4)
BYTE_LOOP(rows_nine_1, 1, nine_1)
BYTE_LOOP(rows_nine_2, 2, nine_2)
BYTE_LOOP(rows_nine_3, 3, nine_3)
BYTE_LOOP(rows_nine_4, 4, nine_4)

/* Computes ROWS rows with PARTS parts, in runs of as many columns as let the sums of a quarter of the lanes fit 32
 * bits: 255 * 32768 * 256 is below 2^31. */
#define WIDE_ROWS(NAME, ROWS, PARTS)                                                               \
    TARGET static void NAME(const struct tvmr_weights *w, const struct tvmr_input *in,             \
                            size_t from, size_t to, int32_t *out)                                  \
    {                                                                                              \
        enum { RUN = 1024 };                                                                       \
        size_t columns = in->stride;                                                               \
        for (size_t r = from; r < to; r += ROWS) {                                                 \
            const int16_t *codes[ROWS];                                                            \
            __m256i dot[ROWS / 4];                                                                 \
            for (size_t i = 0; i < ROWS; i++)                                                      \
                codes[i] = (const int16_t *)(const void *)(w->codes + (r + (r + i < to ? i : 0)) * \
                                                                          w->stride);              \
            for (int i = 0; i < ROWS / 4; i++) dot[i] = _mm256_setzero_si256();                    \
            for (size_t at = 0; at < columns;) {                                                   \
                size_t end = columns - at < RUN ? columns : at + RUN;                              \
                __m512i a[ROWS][PARTS];                                                            \
                for (int i = 0; i < ROWS; i++)                                                     \
                    for (int k = 0; k < PARTS; k++) a[i][k] = _mm512_setzero_si512();              \
                for (; at < end; at += 32) {                                                       \
                    __m512i x[PARTS];                                                              \
                    for (int k = 0; k < PARTS; k++)                                                \
                        x[k] = _mm512_load_si512(in->parts + (size_t)k * columns + at);            \
                    for (int i = 0; i < ROWS; i++) {                                               \
                        __m512i v = _mm512_load_si512(codes[i] + at);                              \
                        for (int k = 0; k < PARTS; k++)                                            \
                            a[i][k] = _mm512_dpwssd_epi32(a[i][k], v, x[k]);                       \
                    }                                                                              \
                }                                                                                  \
                for (int i = 0; i < ROWS; i += 4)                                                  \
                    for (int k = 0; k < PARTS; k++)                                                \
                        dot[i / 4] = _mm256_add_epi64(                                             \
                            dot[i / 4], _mm256_slli_epi64(sum4_wide(a[i][k], a[i + 1][k],          \
                                                                    a[i + 2][k], a[i + 3][k]),     \
                                                          TVMR_PART_BITS * k));                    \
            }                                                                                      \
            for (size_t i = 0; i < ROWS && r + i < to; i += 4)                                     \
                avx512_finish(w, in, r + i, to - r - i < 4 ? to - r - i : 4, dot[i / 4],           \
                              PARTS > 1 ? TVMR_PART_FLIP : 0, out);                                \
        }                                                                                          \
    }

WIDE_ROWS(rows_wide_1, 8, 1)
WIDE_ROWS(rows_wide_2, 4, 2)

/* Picks, for each weight, the version of the input that belongs to its temperature. */
INLINE __m512i avx512_pick(const int16_t *x, __mmask32 odd, __mmask32 high)
{
    __m512i low = _mm512_mask_mov_epi16(_mm512_load_si512(x), odd, _mm512_load_si512(x + 32));
    __m512i up = _mm512_mask_mov_epi16(_mm512_load_si512(x + 64), odd, _mm512_load_si512(x + 96));
    return _mm512_mask_mov_epi16(low, high, up);
}

/* Adds the signed quotients that remain from the division of each term. Weights with the
 * temperature HOT have none. */
INLINE __m512i add_rests(__m512i sum, const int16_t *x, __m512i q, __m512i v, __mmask32 odd,
                         __mmask32 high)
{
    __m512i low = _mm512_maskz_mov_epi16(odd, _mm512_load_si512(x));
    __m512i up = _mm512_mask_mov_epi16(_mm512_load_si512(x + 32), odd, _mm512_load_si512(x + 64));
    __m512i rest = _mm512_mask_mov_epi16(low, high, up), signs = _mm512_load_si512(x + 96);
    __m512i quotient = _mm512_mulhi_epu16(_mm512_abs_epi16(v), rest);
    signs = _mm512_mask_sub_epi16(signs, _mm512_movepi16_mask(q), _mm512_setzero_si512(), signs);
    return _mm512_dpwssd_epi32(sum, quotient, signs);
}

/* Computes four rows at a time with PARTS parts of the input, and adds the rest of the core's
 * division when REST is set. The columns go in runs, as they do for 16-bit weights. */
#define GATED_ROWS(NAME, PARTS, REST)                                                              \
    TARGET static void NAME(const struct tvmr_weights *w, const struct tvmr_input *in,             \
                            size_t from, size_t to, int32_t *out)                                  \
    {                                                                                              \
        enum { RUN = 1024, BLOCK = 32 * (4 * PARTS + 4 * REST), SUMS = PARTS + REST };             \
        __m512i bit0 = _mm512_set1_epi16(1), bit1 = _mm512_set1_epi16(2);                          \
        for (size_t r = from; r < to; r += 4) {                                                    \
            struct group g = group_at(r, to);                                                      \
            const int16_t *codes[4], *x = in->parts;                                               \
            __m256i dot = _mm256_setzero_si256();                                                  \
            for (int i = 0; i < 4; i++)                                                            \
                codes[i] = (const int16_t *)(const void *)(w->codes + g.row[i] * w->stride);       \
            for (size_t at = 0; at < in->stride;) {                                                \
                size_t end = in->stride - at < RUN ? in->stride : at + RUN;                        \
                __m512i sum[4][SUMS];                                                              \
                for (int i = 0; i < 4; i++)                                                        \
                    for (int k = 0; k < SUMS; k++) sum[i][k] = _mm512_setzero_si512();             \
                for (; at < end; at += 32, x += BLOCK)                                             \
                    for (int i = 0; i < 4; i++) {                                                  \
                        __m512i q = _mm512_load_si512(codes[i] + at);                              \
                        __m512i v = _mm512_srai_epi16(q, 2);                                       \
                        __mmask32 odd = _mm512_test_epi16_mask(q, bit0);                           \
                        __mmask32 high = _mm512_test_epi16_mask(q, bit1);                          \
                        for (int k = 0; k < PARTS; k++)                                            \
                            sum[i][k] = _mm512_dpwssd_epi32(sum[i][k], v,                          \
                                                            avx512_pick(x + 128 * k, odd, high));  \
                        if (REST)                                                                  \
                            sum[i][PARTS] =                                                        \
                                add_rests(sum[i][PARTS], x + 128 * PARTS, q, v, odd, high);        \
                    }                                                                              \
                for (int k = 0; k < SUMS; k++) {                                                   \
                    __m256i all = sum4_wide(sum[0][k], sum[1][k], sum[2][k], sum[3][k]);           \
                    dot = _mm256_add_epi64(                                                        \
                        dot, k == 1 && PARTS == 2 ? _mm256_slli_epi64(all, TVMR_PART_BITS) : all); \
                }                                                                                  \
            }                                                                                      \
            avx512_finish(w, in, r, g.n, dot, PARTS == 2 ? TVMR_PART_FLIP : 0, out);               \
        }                                                                                          \
    }

GATED_ROWS(rows_core_1, 1, 1)
GATED_ROWS(rows_core_2, 2, 1)
GATED_ROWS(rows_extension_1, 1, 0)
GATED_ROWS(rows_extension_2, 2, 0)

#include "tvmr/kernels/product_input.inc"

void tvmr_input_avx512(struct tvmr_input *in, const struct tvmr_weights *w, const int32_t *x,
                       size_t count)
{
    input_fill(in, w, x, count);
}

void tvmr_rows_avx512(const struct tvmr_weights *w, const struct tvmr_input *in, size_t from,
                      size_t to, int32_t *out)
{
    static tvmr_kernel *const kernels[][TVMR_PLANES] = {
        [TVMR_FORM_TWO] = {rows_two, rows_two, rows_two, rows_two},
        [TVMR_FORM_EIGHT] = {rows_eight_1, rows_eight_2, rows_eight_3, rows_eight_4},
        [TVMR_FORM_NINE] = {rows_nine_1, rows_nine_2, rows_nine_3, rows_nine_4},
        [TVMR_FORM_WIDE] = {rows_wide_1, rows_wide_2},
        [TVMR_FORM_CORE] = {rows_core_1, rows_core_2},
        [TVMR_FORM_EXTENSION] = {rows_extension_1, rows_extension_2},
    };
    kernels[w->form][in->planes - 1](w, in, from, to, out);
}
#endif
