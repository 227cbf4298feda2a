/* The definition of every product: sums in 64 bits, clamped at the end. */
#include <stdlib.h>
#include "tvmr/kernels.h"

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
    for (size_t o = from; o < to; o++) {
        size_t at = o * cols;
        int64_t sum = gate == TVMR_GATE_NONE   ? row_ungated(c->weights + at, x, n)
                      : gate == TVMR_GATE_CORE ? row_core(c, at, x, n)
                                               : row_extension(c, at, x, n);
        out[o] = clamp32(sum);
    }
}

bool tvmr_product(struct tvmr_vm *vm, struct tvmr_cold *c, enum tvmr_gate gate, const int32_t *x,
                  size_t count, int32_t *out)
{
    (void)vm;
    tvmr_product_plain(c, gate, x, count, 0, c->shape.dims[0], out);
    return true;
}

void tvmr_prepared_free(struct tvmr_prepared *p) { free(p); }

int tvmr_kernels_named(const char *name) { (void)name; return TVMR_KERNELS_PLAIN; }
void tvmr_pool_free(struct tvmr_pool *pool) { free(pool); }
