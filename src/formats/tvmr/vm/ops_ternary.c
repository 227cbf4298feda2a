/* Has the handlers for weights (TVMR 7.5, TVMR 7.6, TVMR 8.2): products, tables, quantization,
 * growing and pruning, temperatures. */
#include "tvmr/vm/ops.h"

/* Checks that weights fit the number of elements, or may be used with another number. */
static bool ops_ternary_fits(struct tvmr_vm *vm, const struct tvmr_insn *in, size_t cols,
                             size_t elements)
{
    return tvmr_expect(vm, in,
                       (struct tvmr_note){TVMR_PRODUCT, (uint8_t)(64 | INDEX(in->a[1])),
                                          (uint8_t)INDEX(in->a[2]), cols, elements, 0, 0});
}

static enum tvmr_result ops_ternary_product(struct tvmr_vm *vm, const struct tvmr_insn *in,
                                            enum tvmr_gate gate)
{
    NEED_COLD(c, in->a[1]);
    NEED_HOT(x, in->a[2]);
    if (c->shape.rank < 2)
        return ops_fail(vm, TVMR_E_SHAPE, "weights of rank %u", (unsigned)c->shape.rank);
    if (!ops_ternary_fits(vm, in, c->shape.dims[1], x->count)) return TVMR_FAILED;
    int32_t *r = ops_result(vm, c->shape.dims[0]);
    if (!r) return TVMR_FAILED;
    tvmr_product(vm, c, gate, x->data, x->count, r);
    return put_list(vm, in->a[0]);
}

HANDLER(core_matmul) { return ops_ternary_product(vm, in, TVMR_GATE_CORE); }
HANDLER(ternary_matmul) { return ops_ternary_product(vm, in, TVMR_GATE_EXTENSION); }

HANDLER(wire_forward)
{
    if (in->a[2] > 0x3f) return ops_unallocated(vm, 'H', in->a[2]);
    const struct tvmr_cold *c = cold_at(vm, in->a[1]);
    if (c && hot_at(vm, in->a[2]) && c->shape.rank != 2)
        return ops_fail(vm, TVMR_E_SHAPE, "weights of rank %u", (unsigned)c->shape.rank);
    return ops_ternary_product(vm, in, TVMR_GATE_NONE);
}

static enum tvmr_result ops_ternary_batch(struct tvmr_vm *vm, const struct tvmr_insn *in,
                                          enum tvmr_gate gate)
{
    NEED_COLD(c, in->a[1]);
    NEED_HOT(x, in->a[2]);
    bool extension = gate == TVMR_GATE_EXTENSION;
    if (c->shape.rank < 2 || (extension && x->shape.rank < 2))
        return ops_fail(vm, TVMR_E_SHAPE, "weights of rank %u, input of rank %u",
                        (unsigned)c->shape.rank, (unsigned)x->shape.rank);
    size_t rows = c->shape.dims[0], cols = c->shape.dims[1], count;
    if (x->shape.rank >= 2) {
        count = x->shape.dims[0];
        if (count && !ops_ternary_fits(vm, in, cols, x->count / count)) return TVMR_FAILED;
    } else {
        if (!cols) return ops_fail(vm, TVMR_E_RANGE, "weights without columns");
        if (x->count % cols)
            return ops_fail(vm, TVMR_E_SHAPE, "%zu elements are no rows of %zu", x->count, cols);
        count = x->count / cols;
    }
    if (rows && count > SIZE_MAX / 8 / rows) return ops_fail(vm, TVMR_E_LIMIT, "too large a batch");
    int32_t *r = ops_result(vm, count * rows);
    if (!r) return TVMR_FAILED;
    for (size_t b = 0; MORE(b, count); b++) {
        uint64_t at = (uint64_t)b * cols;
        size_t n = at < x->count ? min_size(cols, x->count - (size_t)at) : 0;
        tvmr_product(vm, c, gate, n ? x->data + at : NULL, n, r + b * rows);
    }
    return put_matrix(vm, in->a[0], count, rows);
}

HANDLER(core_batch_matmul) { return ops_ternary_batch(vm, in, TVMR_GATE_CORE); }
HANDLER(ternary_batch_matmul) { return ops_ternary_batch(vm, in, TVMR_GATE_EXTENSION); }

static void table_size(const struct tvmr_cold *c, size_t *rows, size_t *cols)
{
    *rows = c->shape.rank < 2 ? 1 : c->shape.dims[0];
    *cols = c->shape.rank < 2 ? dim_at(&c->shape, 0, 1) : c->shape.dims[1];
}

static void copy_row(struct tvmr_vm *vm, const struct tvmr_cold *c, size_t row, size_t cols,
                     int32_t *out)
{
    for (PIECES(from, m, cols))
        for (size_t i = from; i < from + m; i++) {
            size_t at = row * cols + i;
            out[i] = at < c->count ? tvmr_value(c->weights[at]) : 0;
        }
}

HANDLER(embed_lookup)
{
    NEED_COLD(c, in->a[1]);
    NEED_HOT(x, in->a[2]);
    size_t rows, cols;
    table_size(c, &rows, &cols);
    if (cols && x->count > SIZE_MAX / 8 / cols) return ops_fail(vm, TVMR_E_LIMIT, "too many rows");
    int32_t *r = ops_result(vm, x->count * cols);
    if (!r) return TVMR_FAILED;
    for (size_t i = 0; MORE(i, x->count); i++) {
        size_t row = x->data[i] < 0 ? 0 : (size_t)x->data[i];
        if (row < rows)
            copy_row(vm, c, row, cols, r + i * cols);
        else
            work_fill(vm, r + i * cols, 0, cols * sizeof *r);
    }
    return put_matrix(vm, in->a[0], x->count, cols);
}

HANDLER(embed_sequence)
{
    NEED_COLD(c, in->a[1]);
    size_t rows, cols;
    table_size(c, &rows, &cols);
    size_t n = min_size(in->a[2], rows);
    int32_t *r = ops_result(vm, n * cols);
    if (!r) return TVMR_FAILED;
    for (size_t i = 0; MORE(i, n); i++) copy_row(vm, c, i, cols, r + i * cols);
    return put_matrix(vm, in->a[0], n, cols);
}

/* Begins new weights in place of a register. The caller must finish them. */
static struct tvmr_cold *ops_ternary_fresh(struct tvmr_vm *vm, uint8_t reg, size_t count)
{
    uint32_t dim = (uint32_t)count;
    return tvmr_cold_begin(vm, INDEX(reg), count, &dim, 1);
}

HANDLER(quantize)
{
    NEED_HOT(x, in->a[1]);
    if (in->a[0] == TVMR_NULL || ops_spared(vm, &vm->cold[INDEX(in->a[0])])) return TVMR_NEXT;
    struct tvmr_cold *c = ops_ternary_fresh(vm, in->a[0], x->count);
    if (!c) return TVMR_FAILED;
    for (size_t i = 0; MORE(i, x->count); i++)
        c->weights[i] = (struct tvmr_signal){(int8_t)ops_sign(x->data[i]),
                                             (uint8_t)(ops_absolute(x->data[i]) >> 8)};
    if (!vm->paused) tvmr_cold_finish(c, x->count);
    return TVMR_NEXT;
}

HANDLER(pack_ternary)
{
    NEED_COLD(c, in->a[1]);
    size_t n = (c->count + 3) / 4;
    int32_t *r = ops_result(vm, n);
    if (!r) return TVMR_FAILED;
    work_fill(vm, r, 0, n * sizeof *r);
    for (size_t i = 0; MORE(i, c->count); i++) {
        int polarity = c->weights[i].polarity;
        r[i / 4] |= (polarity > 0 ? 1 : polarity < 0 ? 2 : 0) << (i % 4 * 2);
    }
    return put_list(vm, in->a[0]);
}

HANDLER(unpack_ternary)
{
    static const int8_t polarity[] = {0, 1, -1, 0};
    NEED_HOT(x, in->a[1]);
    if (in->a[0] == TVMR_NULL || ops_spared(vm, &vm->cold[INDEX(in->a[0])])) return TVMR_NEXT;
    struct tvmr_cold *c = ops_ternary_fresh(vm, in->a[0], x->count * 4);
    if (!c) return TVMR_FAILED;
    for (size_t i = 0; MORE(i, 4 * x->count); i++) {
        int8_t p = polarity[(uint32_t)x->data[i / 4] >> (i % 4 * 2) & 3];
        c->weights[i] = (struct tvmr_signal){p, p ? 128 : 0};
    }
    if (!vm->paused) tvmr_cold_finish(c, 4 * x->count);
    return TVMR_NEXT;
}

HANDLER(apply_polarity)
{
    NEED_COLD(c, in->a[0]);
    NEED_HOT(x, in->a[1]);
    if (ops_spared(vm, c)) return TVMR_NEXT;
    for (size_t i = vm->progress; MORE_IN_PLACE(i, min_size(c->count, x->count)); i++)
        if (x->data[i]) c->weights[i].polarity = (int8_t)ops_sign(x->data[i]);
    tvmr_cold_changed(c);
    return TVMR_NEXT;
}

HANDLER(apply_magnitude)
{
    NEED_COLD(c, in->a[0]);
    NEED_HOT(x, in->a[1]);
    if (ops_spared(vm, c)) return TVMR_NEXT;
    for (size_t i = vm->progress; MORE_IN_PLACE(i, min_size(c->count, x->count)); i++)
        c->weights[i].magnitude = (uint8_t)ops_clamp(x->data[i], 0, 255);
    tvmr_cold_changed(c);
    return TVMR_NEXT;
}

HANDLER(threshold_polarity)
{
    NEED_COLD(c, in->a[0]);
    NEED_HOT(x, in->a[1]);
    if (ops_spared(vm, c)) return TVMR_NEXT;
    for (size_t i = vm->progress; MORE_IN_PLACE(i, min_size(c->count, x->count)); i++) {
        struct tvmr_signal *w = &c->weights[i];
        int want = ops_sign(x->data[i]);
        if (ops_absolute(x->data[i]) > 2 * w->magnitude && w->polarity != want)
            *w = (struct tvmr_signal){(int8_t)want, 30};
    }
    tvmr_cold_changed(c);
    return TVMR_NEXT;
}

HANDLER(accumulate_pressure)
{
    NEED_HOT(x, in->a[1]);
    struct tvmr_hot *h = &vm->hot[INDEX(in->a[0])];
    uint32_t dim = (uint32_t)x->count;
    if (!h->present) { /* Zeros are added to the other operand, so the sum is that operand. */
        int32_t *r = ops_result(vm, x->count);
        if (!r) return TVMR_FAILED;
        work_move(vm, r, x->data, x->count * sizeof *r);
        return ops_put(vm, in->a[0], &dim, 1);
    }
    h->stamp++;
    for (size_t i = vm->progress; MORE_IN_PLACE(i, min_size(h->count, x->count)); i++)
        h->data[i] = ops_clamp32((int64_t)h->data[i] + x->data[i]);
    return TVMR_NEXT;
}

void tvmr_random_fill(struct tvmr_signal *w, size_t count, uint64_t state)
{
    for (size_t i = 0; i < count; i++) {
        state = state * UINT64_C(6364136223846793005) + 1;
        uint64_t r = state >> 33;
        w[i] = (struct tvmr_signal){(int8_t)((int)(r % 3) - 1), (uint8_t)((r >> 2) % 200 + 30)};
    }
}

/* Returns the state of the random generator after `steps` steps. A step is state * factor +
 * term, and two steps together have the same form. */
static uint64_t random_after(uint64_t state, uint64_t steps)
{
    uint64_t factor = UINT64_C(6364136223846793005), term = 1;
    for (; steps; steps >>= 1) {
        if (steps & 1) state = state * factor + term;
        term = term * factor + term;
        factor *= factor;
    }
    return state;
}

HANDLER(init_random)
{
    struct tvmr_cold *c = cold_at(vm, in->a[0]);
    if (!c || ops_spared(vm, c)) return TVMR_NEXT;
    for (size_t n; vm->progress < c->count && (n = ops_piece(vm, vm->progress, c->count));
         vm->progress += n)
        tvmr_random_fill(c->weights + vm->progress, n, random_after(in->a[3], vm->progress));
    tvmr_cold_changed(c);
    return TVMR_NEXT;
}

HANDLER(grow_neuron)
{
    size_t count = in->a[2];
    if (!count) return ops_fail(vm, TVMR_E_RANGE, "the number of rows to add is 0");
    NEED_COLD(c, in->a[0]);
    if (ops_spared(vm, c)) return TVMR_NEXT;
    if (c->shape.rank != 1 && c->shape.rank != 2)
        return ops_fail(vm, TVMR_E_SHAPE, "weights of rank %u", (unsigned)c->shape.rank);
    size_t old = c->count, more = c->shape.rank == 2 ? count * c->shape.dims[1] : count;
    if (!tvmr_reserve(vm, &c->weights, &c->capacity, old + more, sizeof *c->weights) ||
        (c->temps && !tvmr_reserve(vm, &c->temps, &c->temps_capacity, old + more, 1)))
        return TVMR_FAILED;
    uint64_t state = in->a[3] + (uint64_t)old;
    for (PIECES(i, n, more)) tvmr_random_fill(c->weights + old + i, n, random_after(state, i));
    if (c->temps) work_fill(vm, c->temps + old, TVMR_HOT, more);
    if (vm->paused) return TVMR_NEXT;
    c->count += more;
    c->shape.dims[0] += (uint32_t)count;
    tvmr_cold_changed(c);
    return TVMR_NEXT;
}

HANDLER(prune_neuron)
{
    NEED_COLD(c, in->a[0]);
    if (ops_spared(vm, c)) return TVMR_NEXT;
    if (c->shape.rank != 1 && c->shape.rank != 2)
        return ops_fail(vm, TVMR_E_SHAPE, "weights of rank %u", (unsigned)c->shape.rank);
    size_t rows = c->shape.dims[0], index = in->a[2],
           width = c->shape.rank == 2 ? c->shape.dims[1] : 1;
    if (index >= rows || rows <= 1)
        return ops_fail(vm, TVMR_E_RANGE, "row %zu of %zu", index, rows);
    size_t at = index * width, rest = c->count - at - width;
    tvmr_cold_changed(c);
    /* The weights are done first, then the temperatures. */
    size_t all = c->temps ? 2 * rest : rest, n;
    for (; vm->progress < all; vm->progress += n) {
        bool temps = vm->progress >= rest;
        size_t done = temps ? vm->progress - rest : vm->progress, to = at + done;
        n = min_size(rest - done, TVMR_PIECE);
        if (!may_work(vm, n)) return TVMR_NEXT;
        if (temps)
            memmove(c->temps + to, c->temps + to + width, n);
        else
            memmove(c->weights + to, c->weights + to + width, n * sizeof *c->weights);
    }
    c->count -= width;
    c->shape.dims[0]--;
    return TVMR_NEXT;
}

HANDLER(define_layer)
{
    uint32_t dims[] = {ops_imm16(in), in->a[1]};
    if (in->a[0] == TVMR_NULL) return TVMR_NEXT;
    if (!dims[0] || !dims[1])
        return ops_fail(vm, TVMR_E_RANGE, "a layer of %u x %u", (unsigned)dims[0],
                        (unsigned)dims[1]);
    if (vm->cold[INDEX(in->a[0])].present)
        return ops_fail(vm, TVMR_E_ALLOCATED, "C%u is allocated already", INDEX(in->a[0]));
    size_t count = (size_t)dims[0] * dims[1];
    struct tvmr_cold *c = tvmr_cold_begin(vm, INDEX(in->a[0]), count, dims, 2);
    if (!c || !work_fill(vm, c->weights, 0, count * sizeof *c->weights)) return TVMR_FAILED;
    tvmr_cold_finish(c, count);
    return TVMR_NEXT;
}

/* Ends an interrupted change of temperatures. Weights that had no temperatures before must have
 * none. */
static enum tvmr_result temps_paused(struct tvmr_vm *vm, struct tvmr_cold *c, bool had)
{
    if (!had) tvmr_release(vm, &c->temps, &c->temps_capacity, 1);
    return TVMR_NEXT;
}

static enum tvmr_result all_temps(struct tvmr_vm *vm, const struct tvmr_insn *in, uint8_t temp)
{
    NEED_COLD(c, in->a[0]);
    bool had = c->temps;
    if (!tvmr_reserve(vm, &c->temps, &c->temps_capacity, c->count ? c->count : 1, 1))
        return TVMR_FAILED;
    tvmr_cold_changed(c);
    return work_fill(vm, c->temps, temp, c->count) ? TVMR_NEXT : temps_paused(vm, c, had);
}

HANDLER(freeze_layer) { return all_temps(vm, in, TVMR_COLD); }
HANDLER(unfreeze_layer) { return all_temps(vm, in, TVMR_HOT); }

HANDLER(set_activation)
{
    uint32_t id = in->a[1];
    if (in->a[0] == TVMR_NULL) return TVMR_NEXT;
    return tvmr_shape_set(vm, &vm->shape[INDEX(in->a[0])], &id, 1) ? TVMR_NEXT : TVMR_FAILED;
}

HANDLER(temp_read)
{
    NEED_COLD(c, in->a[1]);
    int32_t *r = ops_result(vm, c->count);
    if (!r) return TVMR_FAILED;
    for (size_t i = 0; MORE(i, c->count); i++) r[i] = c->temps ? c->temps[i] : TVMR_HOT;
    return put_list(vm, in->a[0]);
}

HANDLER(temp_write)
{
    NEED_HOT(x, in->a[0]);
    NEED_COLD(c, in->a[1]);
    bool had = c->temps;
    if (!tvmr_reserve(vm, &c->temps, &c->temps_capacity, c->count ? c->count : 1, 1))
        return TVMR_FAILED;
    tvmr_cold_changed(c);
    for (size_t i = 0; MORE(i, c->count); i++)
        c->temps[i] = i < x->count ? (uint8_t)ops_clamp(x->data[i], TVMR_HOT, TVMR_COLD) : TVMR_HOT;
    return vm->paused ? temps_paused(vm, c, had) : TVMR_NEXT;
}
