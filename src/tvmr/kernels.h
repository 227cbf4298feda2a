/* Products of ternary weights with vectors. product.c has the definition in plain C; the kernels
 * give the same numbers faster, from weights that are prepared once and kept until they change.
 *
 * Without gates weights become unsigned codes, w + offset, so that byte multiply-add applies:
 *
 *     TWO     all magnitudes equal: w / magnitude + 1, two bits; byte j of block b holds columns
 *             256 b + 64 p + j in its bits 2p
 *     EIGHT   all |w| <= 127: w + 128, one byte
 *     NINE    others: w + 255, its upper 8 bits in bytes and its lowest in a bit mask
 *
 * Inputs become byte planes: the highest signed, lower ones less 128. With D the sums of code times
 * plane byte,  sum w x = magnitude * (sum 256^k D_k + C * sum code - offset * sum x), where C makes
 * up for the 128s. All of it is exact in 64 bits.
 *
 * With gates a weight is 16 bits, value << 2 | temperature, and there are four versions of the
 * input, one per temperature, 0 where the gate is shut. The core's division of each term,
 * trunc(v x c / 255), is split: with |x| c = 255 a + b it is sign * (|v| a + |v| b / 255), and the
 * second quotient fits 16 bits. */
#pragma once
#include "tvmr/ops.h"

enum tvmr_kernels { TVMR_KERNELS_PLAIN, TVMR_KERNELS_AVX2, TVMR_KERNELS_AVX512 };
enum tvmr_form {
    TVMR_FORM_NONE,
    TVMR_FORM_TWO,
    TVMR_FORM_EIGHT,
    TVMR_FORM_NINE,
    TVMR_FORM_WIDE,
    TVMR_FORM_GATED
};
enum { TVMR_PLANES = 4, TVMR_PARTS = 3, TVMR_PART_BITS = 11 };

struct tvmr_weights {    /* of one gate */
    enum tvmr_form form; /* NONE: only the definition serves */
    size_t rows, cols;
    size_t chunks; /* of 64 columns; a row ends with zeros up to there */
    size_t stride; /* bytes of a row in codes */
    uint8_t *codes;
    uint64_t *masks; /* NINE: chunks per row */
    int64_t *sums;   /* of codes, per row */
    int32_t magnitude, offset;
    enum tvmr_gate gate; /* of a GATED form */
};

struct tvmr_input {  /* a vector in the form that a kernel reads */
    unsigned planes; /* byte planes, or 16-bit parts */
    size_t stride;   /* bytes of a plane */
    uint8_t *bytes;  /* plane after plane */
    int16_t *parts;  /* GATED: part after part, each of four classes */
    uint16_t *rests; /* GATED, core: b of four classes */
    int16_t *signs;
    int64_t sum;
};

struct tvmr_prepared {
    struct tvmr_weights weights[3]; /* by enum tvmr_gate */
    bool made[3];
    struct tvmr_input input;
    size_t input_room;
};

/* "plain", "avx2", "avx512", or the best for "auto" and NULL; -1: unknown, or not on this machine.
 */
int tvmr_kernels_named(const char *name);

/* prepare.c */
void tvmr_prepared_free(struct tvmr_prepared *p);
const struct tvmr_weights *tvmr_prepare(struct tvmr_cold *cold, enum tvmr_gate gate,
                                        unsigned kernels);
/* The input for these weights; false: no memory. */
bool tvmr_prepare_input(struct tvmr_prepared *p, const struct tvmr_weights *w, enum tvmr_gate gate,
                        const int32_t *x, size_t count);

/* Rows from..to of a product. */
typedef void tvmr_kernel(const struct tvmr_weights *w, const struct tvmr_input *in, size_t from,
                         size_t to, int32_t *out);
tvmr_kernel tvmr_rows_avx512, tvmr_rows_avx2;
/* Bits that some element needs besides its sign, and the sum of all. */
uint32_t tvmr_range_avx512(const int32_t *x, size_t count, int64_t *sum);
/* One byte of every element, with some bits flipped. */
void tvmr_plane_avx512(const int32_t *x, size_t count, unsigned shift, uint8_t flip,
                       uint8_t *plane);

/* The definition. from and to: rows. */
void tvmr_product_plain(const struct tvmr_cold *cold, enum tvmr_gate gate, const int32_t *x,
                        size_t count, size_t from, size_t to, int32_t *out);

/* pool.c: threads that share the rows of a product. */
struct tvmr_pool *tvmr_pool_new(unsigned threads); /* NULL: none could be started */
void tvmr_pool_free(struct tvmr_pool *pool);
void tvmr_pool_rows(struct tvmr_pool *pool, tvmr_kernel *kernel, const struct tvmr_weights *w,
                    const struct tvmr_input *in, int32_t *out);
