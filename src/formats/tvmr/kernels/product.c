/* The definition of every product: sums in 64 bits, clamped at the end. */
#include "tvmr/kernels/kernels.h"
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

/* Each term is divided on its own, truncating. */
static int64_t row_core(const struct tvmr_cold *c, size_t at, const int32_t *x, size_t n)
{
    int64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned t = temp_at(c, at + i);
        int64_t level = absolute(x[i]);
        if ((level > 255 ? 255 : level) < tvmr_threshold[t]) continue;
        sum += (int64_t)tvmr_value(c->weights[at + i]) * x[i] * tvmr_conductance[t] / 255;
    }
    return sum;
}

/* The weight is scaled first, and the gate looks at the low 8 bits of the input. */
static int64_t row_extension(const struct tvmr_cold *c, size_t at, const int32_t *x, size_t n)
{
    int64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned t = temp_at(c, at + i);
        if ((absolute(x[i]) & 255) < tvmr_threshold[t]) continue;
        sum += (int64_t)(tvmr_value(c->weights[at + i]) * tvmr_conductance[t] / 255) * x[i];
    }
    return sum;
}

void tvmr_product_plain(const struct tvmr_cold *c, enum tvmr_gate gate, const int32_t *x,
                        size_t count, size_t from, size_t to, int32_t *out)
{
    size_t cols = c->shape.dims[1], n = min_size(cols, count);
    if (!c->temps) gate = TVMR_GATE_NONE;
    if (!n) { /* weights and vector may be NULL then */
        for (size_t o = from; o < to; o++) out[o] = 0;
        return;
    }
    for (size_t o = from; o < to; o++) {
        size_t at = o * cols;
        int64_t sum = gate == TVMR_GATE_NONE   ? row_ungated(c->weights + at, x, n)
                      : gate == TVMR_GATE_CORE ? row_core(c, at, x, n)
                                               : row_extension(c, at, x, n);
        out[o] = clamp32(sum);
    }
}

/* ---- which kernel ---- */

enum { SMALL = 64, SHARED = 1 << 16 }; /* weights: below, the definition; above, all threads */

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

bool tvmr_product(struct tvmr_vm *vm, struct tvmr_cold *c, enum tvmr_gate gate, const int32_t *x,
                  size_t count, int32_t *out)
{
    size_t rows = c->shape.dims[0], n = min_size(c->shape.dims[1], count);
    if (!c->temps) gate = TVMR_GATE_NONE;
    const struct tvmr_weights *w = NULL;
    if (vm->kernels != TVMR_KERNELS_PLAIN && c->count >= SMALL && n)
        w = tvmr_prepare(c, gate, vm->kernels);
    if (!w || !tvmr_input_room(&c->prepared->input, w)) {
        tvmr_product_plain(c, gate, x, n, 0, rows, out);
        return true;
    }
    struct tvmr_input *input = &c->prepared->input;
    tvmr_kernel *kernel = kernel_sets[vm->kernels].rows;
    kernel_sets[vm->kernels].fill(input, w, x, n);
    if (vm->threads > 1 && c->count >= SHARED && !vm->pool) {
        vm->pool = tvmr_pool_new(vm->threads);
        if (!vm->pool) vm->threads = 1;
    }
    if (vm->pool && c->count >= SHARED)
        tvmr_pool_rows(vm->pool, kernel, w, input, out);
    else
        kernel(w, input, 0, rows, out);
    return true;
}
