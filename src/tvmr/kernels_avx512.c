/* Kernels for AVX-512 with VNNI. See kernels.h for the forms. */
#include "tvmr/kernels.h"

#ifdef __x86_64__
#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,bmi2")))
#define INLINE static inline __attribute__((always_inline)) TARGET

/* Sums of four vectors of sixteen, side by side. */
INLINE __m128i sum4(__m512i a, __m512i b, __m512i c, __m512i d)
{
    __m512i ab = _mm512_add_epi32(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
    __m512i cd = _mm512_add_epi32(_mm512_unpacklo_epi32(c, d), _mm512_unpackhi_epi32(c, d));
    __m512i all = _mm512_add_epi32(_mm512_unpacklo_epi64(ab, cd), _mm512_unpackhi_epi64(ab, cd));
    __m256i half = _mm256_add_epi32(_mm512_castsi512_si256(all), _mm512_extracti64x4_epi64(all, 1));
    return _mm_add_epi32(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
}

/* magnitude * (dot + C * sum of codes - offset * sum of x), clamped, for rows row .. row + n - 1.
 */
INLINE void finish(const struct tvmr_weights *w, const struct tvmr_input *in, size_t row, size_t n,
                   const __m128i *d, unsigned planes, int32_t *out)
{
    static const int64_t correction[] = {0, 128, 128 + 128 * 256, 128 + 128 * 256 + 128 * 65536};
    __m256i dot = _mm256_cvtepi32_epi64(d[0]),
            sums = _mm256_loadu_si256((const __m256i *)(const void *)(w->sums + row));
    for (unsigned k = 1; k < planes; k++)
        dot = _mm256_add_epi64(
            dot, _mm256_sll_epi64(_mm256_cvtepi32_epi64(d[k]), _mm_cvtsi32_si128((int)(8 * k))));
    if (planes > 1)
        dot = _mm256_add_epi64(
            dot, _mm256_mullo_epi64(sums, _mm256_set1_epi64x(correction[planes - 1])));
    dot = _mm256_sub_epi64(dot, _mm256_set1_epi64x(w->offset * in->sum));
    if (w->magnitude != 1) dot = _mm256_mullo_epi64(dot, _mm256_set1_epi64x(w->magnitude));
    _mm_mask_storeu_epi32(out + row, (__mmask8)((1u << n) - 1), _mm256_cvtsepi64_epi32(dot));
}

/* ---- two bits: mask each quarter in place, shift the sums at the end ---- */

INLINE __m512i two_row(const uint8_t *codes, const uint8_t *x, size_t blocks, size_t last)
{
    __m512i m0 = _mm512_set1_epi8(0x03), m1 = _mm512_set1_epi8(0x0c), m2 = _mm512_set1_epi8(0x30);
    __m512i m3 = _mm512_set1_epi8((char)0xc0), zero = _mm512_setzero_si512();
    __m512i a0 = zero, a1 = zero, a2 = zero, a3 = zero;
    for (size_t b = 0; b < blocks; b++, x += 256) {
        __m512i v = _mm512_load_si512(codes + b * 64);
        a0 = _mm512_dpbusd_epi32(a0, _mm512_and_si512(v, m0), _mm512_load_si512(x));
        if (b + 1 == blocks && last == 1) break;
        a1 = _mm512_dpbusd_epi32(a1, _mm512_and_si512(v, m1), _mm512_load_si512(x + 64));
        a2 = _mm512_dpbusd_epi32(a2, _mm512_and_si512(v, m2), _mm512_load_si512(x + 128));
        a3 = _mm512_dpbusd_epi32(a3, _mm512_and_si512(v, m3), _mm512_load_si512(x + 192));
    }
    a0 = _mm512_add_epi32(a0, _mm512_srai_epi32(a1, 2));
    a2 = _mm512_add_epi32(_mm512_srai_epi32(a2, 4), _mm512_srai_epi32(a3, 6));
    return _mm512_add_epi32(a0, a2);
}

TARGET static void rows_two(const struct tvmr_weights *w, const struct tvmr_input *in, size_t from,
                            size_t to, int32_t *out)
{
    size_t blocks = (w->chunks + 3) / 4, last = w->chunks - (blocks - 1) * 4;
    for (size_t r = from; r < to; r += 4) {
        __m128i d[TVMR_PLANES] = {_mm_setzero_si128()};
        size_t n = to - r < 4 ? to - r : 4;
        for (unsigned k = 0; k < in->planes; k++) {
            __m512i a[4];
            for (size_t i = 0; i < 4; i++)
                a[i] = two_row(w->codes + (r + (i < n ? i : 0)) * w->stride,
                               in->bytes + k * in->stride, blocks, last);
            d[k] = sum4(a[0], a[1], a[2], a[3]);
        }
        finish(w, in, r, n, d, in->planes, out);
    }
}

/* ---- eight and nine bits: bytes, and a mask for the lowest bit of nine ---- */

/* Four rows against PLANES planes, AT_ONCE rows at a time: as many as the registers hold. NINE:
 * twice the bytes plus the bits of the masks. */
#define BYTE_ROWS(NAME, PLANES, AT_ONCE, NINE)                                                     \
    INLINE void NAME(const struct tvmr_weights *w, const struct tvmr_input *in,                    \
                     const size_t row[4], __m128i d[TVMR_PLANES])                                  \
    {                                                                                              \
        __m512i ones = _mm512_set1_epi8(1), sums[4][PLANES];                                       \
        for (int first = 0; first < 4; first += AT_ONCE) {                                         \
            __m512i high[AT_ONCE][PLANES], low[AT_ONCE][PLANES];                                   \
            for (int i = 0; i < AT_ONCE; i++)                                                      \
                for (int k = 0; k < PLANES; k++)                                                   \
                    high[i][k] = low[i][k] = _mm512_setzero_si512();                               \
            for (size_t c = 0; c < w->chunks; c++) {                                               \
                __m512i x[PLANES];                                                                 \
                for (int k = 0; k < PLANES; k++)                                                   \
                    x[k] = _mm512_load_si512(in->bytes + (size_t)k * in->stride + c * 64);         \
                for (int i = 0; i < AT_ONCE; i++) {                                                \
                    size_t r = row[first + i];                                                     \
                    __m512i v = _mm512_load_si512(w->codes + r * w->stride + c * 64);              \
                    for (int k = 0; k < PLANES; k++)                                               \
                        high[i][k] = _mm512_dpbusd_epi32(high[i][k], v, x[k]);                     \
                    if (!NINE) continue;                                                           \
                    __m512i bit = _mm512_maskz_mov_epi8(w->masks[r * w->chunks + c], ones);        \
                    for (int k = 0; k < PLANES; k++)                                               \
                        low[i][k] = _mm512_dpbusd_epi32(low[i][k], bit, x[k]);                     \
                }                                                                                  \
            }                                                                                      \
            for (int i = 0; i < AT_ONCE; i++)                                                      \
                for (int k = 0; k < PLANES; k++)                                                   \
                    sums[first + i][k] =                                                           \
                        NINE ? _mm512_add_epi32(_mm512_slli_epi32(high[i][k], 1), low[i][k])       \
                             : high[i][k];                                                         \
        }                                                                                          \
        for (int k = 0; k < PLANES; k++)                                                           \
            d[k] = sum4(sums[0][k], sums[1][k], sums[2][k], sums[3][k]);                           \
    }

BYTE_ROWS(eight_1, 1, 4, 0)
BYTE_ROWS(eight_2, 2, 4, 0)
BYTE_ROWS(eight_3, 3, 4, 0)
BYTE_ROWS(eight_4, 4, 4, 0)
BYTE_ROWS(nine_1, 1, 4, 1)
BYTE_ROWS(nine_2, 2, 4, 1)
BYTE_ROWS(nine_3, 3, 2, 1)
BYTE_ROWS(nine_4, 4, 2, 1)

/* The whole loop per kind, so that the compiler keeps the sums in registers. */
#define BYTE_LOOP(NAME, PLANES, ROWS)                                                              \
    TARGET static void NAME(const struct tvmr_weights *w, const struct tvmr_input *in,             \
                            size_t from, size_t to, int32_t *out)                                  \
    {                                                                                              \
        for (size_t r = from; r < to; r += 4) {                                                    \
            __m128i d[TVMR_PLANES];                                                                \
            size_t n = to - r < 4 ? to - r : 4, row[4];                                            \
            for (size_t i = 0; i < 4; i++)                                                         \
                row[i] = r + (i < n ? i : 0);                                                      \
            ROWS(w, in, row, d);                                                                   \
            finish(w, in, r, n, d, PLANES, out);                                                   \
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

/* ---- gated: 16 bits, four versions of the input ---- */

INLINE int64_t sum64(__m512i a)
{
    return _mm512_reduce_add_epi64(a);
}

/* Sixteen 32-bit sums into eight of 64 bits. */
INLINE __m512i widen(__m512i total, __m512i a)
{
    __m512i low = _mm512_cvtepi32_epi64(_mm512_castsi512_si256(a));
    __m512i high = _mm512_cvtepi32_epi64(_mm512_extracti64x4_epi64(a, 1));
    return _mm512_add_epi64(total, _mm512_add_epi64(low, high));
}

/* The version of the input that each weight's temperature picks. */
INLINE __m512i pick(const int16_t *x, size_t columns, __mmask32 odd, __mmask32 high)
{
    __m512i low = _mm512_mask_mov_epi16(_mm512_load_si512(x), odd, _mm512_load_si512(x + columns));
    __m512i up = _mm512_mask_mov_epi16(_mm512_load_si512(x + 2 * columns), odd,
                                       _mm512_load_si512(x + 3 * columns));
    return _mm512_mask_mov_epi16(low, high, up);
}

/* Two rows; PARTS of the input, and the rest of the core's division when REST. */
#define GATED_ROWS(NAME, PARTS, REST)                                                              \
    TARGET static void NAME(const struct tvmr_weights *w, const struct tvmr_input *in,             \
                            const size_t row[2], int64_t out[2])                                   \
    {                                                                                              \
        enum { RUN = 64 }; /* sums of 32 bits stay exact for that many steps */                    \
        const int16_t *codes[2];                                                                   \
        size_t columns = in->stride, steps = columns / 32;                                         \
        __m512i total[2][PARTS], rest[2], zero = _mm512_setzero_si512();                           \
        __m512i bit0 = _mm512_set1_epi16(1), bit1 = _mm512_set1_epi16(2);                          \
        __m512i by255 = _mm512_set1_epi16((short)0x8081);                                          \
        for (int i = 0; i < 2; i++) {                                                              \
            codes[i] = (const int16_t *)(const void *)(w->codes + row[i] * w->stride);             \
            rest[i] = zero;                                                                        \
            for (int k = 0; k < PARTS; k++)                                                        \
                total[i][k] = zero;                                                                \
        }                                                                                          \
        for (size_t s = 0; s < steps;) {                                                           \
            __m512i sum[2][PARTS];                                                                 \
            for (int i = 0; i < 2; i++)                                                            \
                for (int k = 0; k < PARTS; k++)                                                    \
                    sum[i][k] = zero;                                                              \
            size_t end = steps - s < RUN ? steps : s + RUN;                                        \
            for (; s < end; s++) {                                                                 \
                size_t at = s * 32;                                                                \
                for (int i = 0; i < 2; i++) {                                                      \
                    __m512i q = _mm512_load_si512(codes[i] + at), v = _mm512_srai_epi16(q, 2);     \
                    __mmask32 odd = _mm512_test_epi16_mask(q, bit0);                               \
                    __mmask32 high = _mm512_test_epi16_mask(q, bit1);                              \
                    for (int k = 0; k < PARTS; k++)                                                \
                        sum[i][k] = _mm512_dpwssd_epi32(                                           \
                            sum[i][k], v,                                                          \
                            pick(in->parts + (size_t)k * 4 * columns + at, columns, odd, high));   \
                    if (!REST) continue;                                                           \
                    __m512i b = pick((const int16_t *)in->rests + at, columns, odd, high);         \
                    __m512i n = _mm512_mullo_epi16(_mm512_abs_epi16(v), b);                        \
                    __m512i quotient =                                                             \
                        _mm512_srli_epi16(_mm512_mulhi_epu16(n, by255), 7); /* n / 255 */          \
                    __m512i signs = _mm512_load_si512(in->signs + at);                             \
                    signs = _mm512_mask_sub_epi16(signs, _mm512_movepi16_mask(q), zero, signs);    \
                    rest[i] = _mm512_dpwssd_epi32(rest[i], quotient, signs);                       \
                }                                                                                  \
            }                                                                                      \
            for (int i = 0; i < 2; i++)                                                            \
                for (int k = 0; k < PARTS; k++)                                                    \
                    total[i][k] = widen(total[i][k], sum[i][k]);                                   \
        }                                                                                          \
        for (int i = 0; i < 2; i++) {                                                              \
            out[i] = REST ? sum64(widen(zero, rest[i])) : 0;                                       \
            for (int k = 0; k < PARTS; k++)                                                        \
                out[i] += sum64(total[i][k]) * (INT64_C(1) << TVMR_PART_BITS * k);                 \
        }                                                                                          \
    }

GATED_ROWS(core_1, 1, 1)
GATED_ROWS(core_3, 3, 1)
GATED_ROWS(extension_1, 1, 0)
GATED_ROWS(extension_3, 3, 0)

TARGET static void rows_gated(const struct tvmr_weights *w, const struct tvmr_input *in,
                              size_t from, size_t to, int32_t *out)
{
    bool core = w->gate == TVMR_GATE_CORE, narrow = in->planes == 1;
    for (size_t r = from; r < to; r += 2) {
        size_t row[2] = {r, r + 1 < to ? r + 1 : r};
        int64_t sum[2];
        if (core)
            (narrow ? core_1 : core_3)(w, in, row, sum);
        else
            (narrow ? extension_1 : extension_3)(w, in, row, sum);
        for (int i = 0; i < 2; i++)
            out[row[i]] = clamp32(sum[i]);
    }
}

/* ---- inputs ---- */

TARGET uint32_t tvmr_range_avx512(const int32_t *x, size_t count, int64_t *sum)
{
    __m512i all = _mm512_setzero_si512(), total = all;
    for (size_t i = 0; i < count; i += 16) {
        __mmask16 m = count - i >= 16 ? 0xffff : (__mmask16)((1u << (count - i)) - 1);
        __m512i v = _mm512_maskz_loadu_epi32(m, x + i);
        all = _mm512_or_si512(all, _mm512_xor_si512(v, _mm512_srai_epi32(v, 31)));
        total = widen(total, v);
    }
    *sum = sum64(total);
    return (uint32_t)_mm512_reduce_or_epi32(all);
}

TARGET void tvmr_plane_avx512(const int32_t *x, size_t count, unsigned shift, uint8_t flip,
                              uint8_t *plane)
{
    __m128i flips = _mm_set1_epi8((char)flip), by = _mm_cvtsi32_si128((int)shift);
    for (size_t i = 0; i < count; i += 16) {
        __mmask16 m = count - i >= 16 ? 0xffff : (__mmask16)((1u << (count - i)) - 1);
        __m512i v = _mm512_srl_epi32(_mm512_maskz_loadu_epi32(m, x + i), by);
        _mm_mask_storeu_epi8(plane + i, m, _mm_xor_si128(_mm512_cvtepi32_epi8(v), flips));
    }
}

void tvmr_rows_avx512(const struct tvmr_weights *w, const struct tvmr_input *in, size_t from,
                      size_t to, int32_t *out)
{
    static tvmr_kernel *const eight[] = {rows_eight_1, rows_eight_2, rows_eight_3, rows_eight_4};
    static tvmr_kernel *const nine[] = {rows_nine_1, rows_nine_2, rows_nine_3, rows_nine_4};
    switch (w->form) {
    case TVMR_FORM_TWO: rows_two(w, in, from, to, out); break;
    case TVMR_FORM_EIGHT: eight[in->planes - 1](w, in, from, to, out); break;
    case TVMR_FORM_NINE: nine[in->planes - 1](w, in, from, to, out); break;
    case TVMR_FORM_GATED: rows_gated(w, in, from, to, out); break;
    case TVMR_FORM_WIDE: tvmr_rows_avx2(w, in, from, to, out); break;
    default: break;
    }
}
#else
uint32_t tvmr_range_avx512(const int32_t *x, size_t count, int64_t *sum)
{
    (void)x, (void)count, (void)sum;
    return 0;
}

void tvmr_plane_avx512(const int32_t *x, size_t count, unsigned shift, uint8_t flip, uint8_t *plane)
{
    (void)x, (void)count, (void)shift, (void)flip, (void)plane;
}

void tvmr_rows_avx512(const struct tvmr_weights *w, const struct tvmr_input *in, size_t from,
                      size_t to, int32_t *out)
{
    (void)w, (void)in, (void)from, (void)to, (void)out;
}
#endif
