/* Products of ternary weights with vectors. product.c has the definition in plain C; the kernels
 * give the same numbers faster, from weights that are prepared once and kept until they change. */
#pragma once
#include "tvmr/ops.h"

enum tvmr_kernels { TVMR_KERNELS_PLAIN, TVMR_KERNELS_AVX2, TVMR_KERNELS_AVX512 };

/* "plain", "avx2", "avx512", or the best for "auto" and NULL; -1: unknown, or not on this machine. */
int tvmr_kernels_named(const char *name);

void tvmr_pool_free(struct tvmr_pool *pool);
void tvmr_prepared_free(struct tvmr_prepared *p);

/* The definition. from and to: rows. */
void tvmr_product_plain(const struct tvmr_cold *cold, enum tvmr_gate gate, const int32_t *x,
                        size_t count, size_t from, size_t to, int32_t *out);
