/* Computes products. The plain C functions here are the definition of every product: sums in 64
 * bits that are clamped at the end. */
#include "tvmr/vm/ops.h"
#include "base/platform/processor.h"
#include <stdlib.h>

static unsigned temp_at(const struct tvmr_cold *c, size_t i)
{
    return c->temps[i] > TVMR_COLD ? TVMR_COLD : c->temps[i];
}

static int64_t row_ungated(const struct tvmr_signal *w, const int32_t *x, size_t n)
{
    int64_t sum = 0;
    for (size_t i = 0; i < n; i++) sum += (int64_t)tvmr_value(w[i]) * x[i];
    return sum;
}

/* Computes a row of a core product. Each term is divided and truncated on its own. */
static int64_t row_core(const struct tvmr_cold *c, size_t at, const int32_t *x, size_t n)
{
    int64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned t = temp_at(c, at + i);
        int64_t level = ops_absolute(x[i]);
        if ((level > 255 ? 255 : level) < tvmr_threshold[t]) continue;
        sum += (int64_t)tvmr_value(c->weights[at + i]) * x[i] * tvmr_conductance[t] / 255;
    }
    return sum;
}

/* Computes a row of an extension's product. The weight is scaled first, and the gate uses the
 * low 8 bits of the input. */
static int64_t row_extension(const struct tvmr_cold *c, size_t at, const int32_t *x, size_t n)
{
    int64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned t = temp_at(c, at + i);
        if ((ops_absolute(x[i]) & 255) < tvmr_threshold[t]) continue;
        sum += (int64_t)(tvmr_value(c->weights[at + i]) * tvmr_conductance[t] / 255) * x[i];
    }
    return sum;
}

/* Sums the terms of n weights from the index `at` on. Weights and vector may be NULL when n is 0. */
static int64_t row_part(const struct tvmr_cold *c, enum tvmr_gate gate, size_t at, const int32_t *x,
                        size_t n)
{
    return gate == TVMR_GATE_NONE   ? row_ungated(c->weights + at, x, n)
           : gate == TVMR_GATE_CORE ? row_core(c, at, x, n)
                                    : row_extension(c, at, x, n);
}

void tvmr_product_plain(const struct tvmr_cold *c, enum tvmr_gate gate, const int32_t *x,
                        size_t count, size_t from, size_t to, int32_t *out)
{
    size_t cols = c->shape.dims[1], n = min_size(cols, count);
    if (!c->temps) gate = TVMR_GATE_NONE;
    for (size_t o = from; o < to; o++)
        out[o] = n ? ops_clamp32(row_part(c, gate, o * cols, x, n)) : 0;
}

/* Computes the product in pieces, so that an interrupt can end it. */
static void product_in_pieces(struct tvmr_vm *vm, const struct tvmr_cold *c, enum tvmr_gate gate,
                              const int32_t *x, size_t n, int32_t *out)
{
    size_t rows = c->shape.dims[0], cols = c->shape.dims[1];
    for (size_t o = 0; MORE(o, rows); o++) {
        int64_t sum = 0;
        for (PIECES(i, m, n)) sum += row_part(c, gate, o * cols + i, x + i, m);
        out[o] = ops_clamp32(sum);
    }
}

/* Numbers of weights: below SMALL the definition is used, from SHARED on all threads work. */
enum { SMALL = 64, SHARED = 1 << 16 };

static bool has_avx512(void) { return processor_has(PROCESSOR_AVX512 | PROCESSOR_BMI2); }

static bool has_avx2(void) { return processor_has(PROCESSOR_AVX2); }

#ifndef __x86_64__
#define tvmr_rows_avx512 NULL
#define tvmr_rows_avx2 NULL
#define tvmr_input_avx512 NULL
#define tvmr_input_avx2 NULL
#endif

static const struct {
    tvmr_fill *fill;
    tvmr_kernel *rows;
} kernel_sets[] = {[TVMR_KERNELS_AVX2] = {tvmr_input_avx2, tvmr_rows_avx2},
                   [TVMR_KERNELS_AVX512] = {tvmr_input_avx512, tvmr_rows_avx512}};

int tvmr_kernels_named(const char *name)
{
    if (!name || !strcmp(name, "auto"))
        return has_avx512() ? TVMR_KERNELS_AVX512
               : has_avx2() ? TVMR_KERNELS_AVX2
                            : TVMR_KERNELS_PLAIN;
    if (!strcmp(name, "plain")) return TVMR_KERNELS_PLAIN;
    if (!strcmp(name, "avx2") && has_avx2()) return TVMR_KERNELS_AVX2;
    if (!strcmp(name, "avx512") && has_avx512()) return TVMR_KERNELS_AVX512;
    return -1;
}

void tvmr_product(struct tvmr_vm *vm, struct tvmr_cold *c, enum tvmr_gate gate, const int32_t *x,
                  size_t count, int32_t *out)
{
    size_t rows = c->shape.dims[0], n = min_size(c->shape.dims[1], count);
    if (!c->temps) gate = TVMR_GATE_NONE;
    const struct tvmr_weights *w = NULL;
    if (vm->kernels != TVMR_KERNELS_PLAIN && c->count >= SMALL && n) w = tvmr_prepare(vm, c, gate);
    if (vm->paused) return;
    if (!w || !tvmr_input_room(&c->prepared->input, w)) {
        product_in_pieces(vm, c, gate, x, n, out);
        return;
    }
    struct tvmr_input *input = &c->prepared->input;
    tvmr_kernel *kernel = kernel_sets[vm->kernels].rows;
    kernel_sets[vm->kernels].fill(input, w, x, n);
    if (vm->threads > 1 && c->count >= SHARED && !vm->pool) {
        vm->pool = tvmr_pool_new(vm->threads);
        if (!vm->pool) vm->threads = 1;
    }
    /* Rows are computed in slices, so that an interrupt is seen soon. A unit of work is 64
     * weights. */
    size_t slice = POLL_UNITS / (w->cols / 64 + 1) / 8 * 8;
    for (size_t from = 0, to; from < rows; from = to) {
        to = min_size(rows, from + slice);
        if (!may_work(vm, (to - from) * (w->cols / 64 + 1))) return;
        if (vm->pool && c->count >= SHARED)
            tvmr_pool_rows(vm->pool, &(struct tvmr_job){kernel, w, input, from, to, out});
        else
            kernel(w, input, from, to, out);
    }
}
