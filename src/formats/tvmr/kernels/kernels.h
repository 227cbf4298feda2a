/* Declares products of ternary weights with vectors. vm/product.c has the definition in plain C.
 * The kernels give the same numbers faster, from weights that are prepared once and kept until they
 * change.
 *
 * Without gates, weights become codes, w + offset, which are unsigned for the multiply-add of bytes:
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
 * For codes of bytes, inputs become byte planes: the highest plane is signed, lower ones have 128 subtracted. When
 * D_k is the sum of code times byte of plane k, then sum w x = magnitude * (sum 256^k D_k + C * sum code - offset *
 * sum x), where C corrects the 128s. For 16 bits inputs become one or two parts in the same way. All of it is exact
 * in 64 bits.
 *
 * With gates, a weight has 16 bits, value << 2 | temperature, and there are four versions of the input, one for each
 * temperature, which are 0 where the gate is shut. The core's division of each term,
 * trunc(v x c / 255), is split: with |x| c = 255 a + b it is sign * (|v| a + |v| b / 255), and the
 * second quotient is the upper half of a 16-bit product. An input is a row of blocks for 32 columns
 * each: per part the four versions of a, then (CORE) the rests b of three, then signs. */
#pragma once
#include "tvmr/format/weights.h"

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

struct tvmr_weights {    /* the prepared weights of one gate */
    enum tvmr_form form; /* NONE when only the plain C definition can be used */
    size_t rows, cols;
    size_t chunks; /* number of chunks of 64 columns; a row is filled up with zeros */
    size_t stride; /* size of a row of codes in bytes */
    uint8_t *codes;
    uint8_t *lows; /* for NINE, the lowest bits: 32 bytes for each chunk and four rows */
    int64_t *sums; /* the sum of the codes of each row */
    int32_t magnitude, offset;
};

struct tvmr_input {  /* a vector in the form that a kernel reads */
    unsigned planes; /* number of byte planes or 16-bit parts */
    size_t stride;   /* number of columns of a plane */
    uint8_t *bytes;  /* the byte planes, one after the other */
    int16_t *parts;  /* The parts use the same memory, one part or block after the other. */
    size_t room;     /* size of the memory in bytes */
    int64_t sum;
};

/* Computes the rows from..to of a product. `from` is a multiple of 8, unless these are all rows. */
typedef void tvmr_kernel(const struct tvmr_weights *w, const struct tvmr_input *in, size_t from,
                         size_t to, int32_t *out);
/* Fills the input of a product in the form that its weights need. */
typedef void tvmr_fill(struct tvmr_input *in, const struct tvmr_weights *w, const int32_t *x,
                       size_t count);
tvmr_kernel tvmr_rows_avx512, tvmr_rows_avx2;
tvmr_fill tvmr_input_avx512, tvmr_input_avx2;

/* A pool has the threads that share the rows of a product. worker_threads.c defines its
 * functions. */
struct tvmr_pool *tvmr_pool_new(unsigned threads); /* Returns NULL when no thread could be
                                                    * started. */
void tvmr_pool_free(struct tvmr_pool *pool);
struct tvmr_job {
    tvmr_kernel *kernel;
    const struct tvmr_weights *weights;
    const struct tvmr_input *input;
    size_t from, to; /* the rows that the job computes */
    int32_t *out;
};
void tvmr_pool_rows(struct tvmr_pool *pool, const struct tvmr_job *job);
