/* Declares loops over whole tensors. There is one set of loops for each instruction set:
 * tvmr_elements[vm->kernels]. Sources and destination do not overlap, but both sources may be
 * the same. */
#pragma once
#include "tvmr/format/weights.h"
#include "tvmr/kernels/arithmetic.h"

struct tvmr_elements {
#define UNARY(name, ...)                                                                           \
    void (*name)(int32_t * r, const int32_t *x, size_t n, int32_t p, int32_t q);
#define BINARY(name, ...) void (*name)(int32_t * r, const int32_t *x, const int32_t *y, size_t n);
#include "tvmr/kernels/elements.def"
    /* Computes x + scale * weights, clamped. */
    void (*bias)(int32_t *r, const int32_t *x, const struct tvmr_signal *w, size_t n, int32_t p);
    int32_t (*largest)(const int32_t *x, size_t n); /* Returns 0 when there are no elements. */
    int64_t (*total)(const int32_t *x, size_t n);
    int64_t (*dot)(const int32_t *x, const int32_t *y, size_t n); /* The sum wraps. */
};
extern const struct tvmr_elements *const tvmr_elements[3]; /* indexed by enum tvmr_kernels */
