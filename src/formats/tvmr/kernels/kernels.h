/* Products of ternary weights with vectors. product.c has the definition in plain C; the kernels
 * give the same numbers faster, from weights that are prepared once and kept until they change.
 *
 * Without gates weights become codes, w + offset, unsigned where byte multiply-add applies:
 *
 *     TWO     all magnitudes equal: w / magnitude + 1, two bits; byte j of block b holds columns
 *             256 b + 64 q + j in its bits 2q
 *     EIGHT   all |w| <= 127: w + 128, one byte
 *     NINE    others: w + 255, its upper 8 bits in bytes; the lowest of four rows and two chunks
 *             of 64 columns in one byte aside
 *     WIDE    others in matrices that the cache holds anyway, and all others with AVX2, which adds
 *             products of whole bytes in 16 bits only: w itself, 16 bits; more memory than NINE,
 *             half the work
 *
 * For bytes inputs become byte planes: the highest signed, lower ones less 128. With D the sums of
 * code times plane byte, sum w x = magnitude * (sum 256^k D_k + C * sum code - offset * sum x),
 * where C makes up for the 128s. For 16 bits they become one or two parts in the same way. All of
 * it is exact in 64 bits.
 *
 * With gates a weight is 16 bits, value << 2 | temperature, and there are four versions of the
 * input, one per temperature, 0 where the gate is shut. The core's division of each term,
 * trunc(v x c / 255), is split: with |x| c = 255 a + b it is sign * (|v| a + |v| b / 255), and the
 * second quotient is the upper half of a 16-bit product. An input is a row of blocks for 32 columns
 * each: per part the four versions of a, then (CORE) the rests b of three, then signs. */
#pragma once
#include "tvmr/vm/ops.h"

enum tvmr_kernels { TVMR_KERNELS_PLAIN, TVMR_KERNELS_AVX2, TVMR_KERNELS_AVX512 };
enum tvmr_form {
    TVMR_FORM_NONE,
    TVMR_FORM_TWO,
    TVMR_FORM_EIGHT,
    TVMR_FORM_NINE,
    TVMR_FORM_WIDE,
    TVMR_FORM_CORE,
    TVMR_FORM_EXTENSION
};
enum { TVMR_PLANES = 4, TVMR_PARTS = 2, TVMR_PART_BITS = 16, TVMR_PART_FLIP = 1 << 15 };

struct tvmr_weights {    /* of one gate */
    enum tvmr_form form; /* NONE: only the definition serves */
    size_t rows, cols;
    size_t chunks; /* of 64 columns; a row ends with zeros up to there */
    size_t stride; /* bytes of a row in codes */
    uint8_t *codes;
    uint8_t *lows; /* NINE: 32 bytes per chunk and four rows */
    int64_t *sums; /* of codes, per row */
    int32_t magnitude, offset;
};

struct tvmr_input {  /* a vector in the form that a kernel reads */
    unsigned planes; /* byte planes, or 16-bit parts */
    size_t stride;   /* columns */
    uint8_t *bytes;  /* plane after plane */
    int16_t *parts;  /* the same memory: part after part, or block after block */
    size_t room;     /* bytes */
    int64_t sum;
};

struct tvmr_prepared {
    struct tvmr_weights weights[3]; /* by enum tvmr_gate */
    bool made[3];
    struct tvmr_input input;
};

/* "plain", "avx2", "avx512", or the best for "auto" and NULL; -1: unknown, or not on this machine.
 */
int tvmr_kernels_named(const char *name);

/* prepare_weights.c */
void tvmr_prepared_free(struct tvmr_prepared *p);
/* For vm->kernels. NULL: only the definition serves, or the machine is paused. */
const struct tvmr_weights *tvmr_prepare(struct tvmr_vm *vm, struct tvmr_cold *cold,
                                        enum tvmr_gate gate);
/* Room for the input of these weights; false: no memory. */
bool tvmr_input_room(struct tvmr_input *in, const struct tvmr_weights *w);

/* Rows from..to of a product; from is a multiple of 8 unless it is all. */
typedef void tvmr_kernel(const struct tvmr_weights *w, const struct tvmr_input *in, size_t from,
                         size_t to, int32_t *out);
/* The input of a product in the form of its weights. */
typedef void tvmr_fill(struct tvmr_input *in, const struct tvmr_weights *w, const int32_t *x,
                       size_t count);
tvmr_kernel tvmr_rows_avx512, tvmr_rows_avx2;
tvmr_fill tvmr_input_avx512, tvmr_input_avx2;

/* The definition. from and to: rows. */
void tvmr_product_plain(const struct tvmr_cold *cold, enum tvmr_gate gate, const int32_t *x,
                        size_t count, size_t from, size_t to, int32_t *out);

/* worker_threads.c: threads that share the rows of a product. */
struct tvmr_pool *tvmr_pool_new(unsigned threads); /* NULL: none could be started */
void tvmr_pool_free(struct tvmr_pool *pool);
struct tvmr_job {
    tvmr_kernel *kernel;
    const struct tvmr_weights *weights;
    const struct tvmr_input *input;
    size_t from, to; /* rows */
    int32_t *out;
};
void tvmr_pool_rows(struct tvmr_pool *pool, const struct tvmr_job *job);
