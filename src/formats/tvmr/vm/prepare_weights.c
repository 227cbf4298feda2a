/* Prepares weights in the forms of kernels.h, and makes room for inputs. */
#include "tvmr/vm/ops.h"
#include <stdlib.h>

enum {
    ALIGN = 64,
    NINE_COLUMNS =
        32767, /* The most columns for NINE: sums of codes up to 510 times bytes up to 128 are
                * below 2^31. */
    WIDE_BYTES = 1 << 20 /* Matrices up to this size stay in the cache with 16 bits for each
                          * weight. */
};

/* Allocates zeroed memory, aligned for vectors. With `vm` NULL it does not check for interrupts. */
static void *prepare_weights_aligned(struct tvmr_vm *vm, size_t bytes)
{
    size_t size = bytes ? (bytes + ALIGN - 1) / ALIGN * ALIGN : ALIGN;
    void *p = aligned_alloc(ALIGN, size);
    if (p && vm)
        work_fill(vm, p, 0, size);
    else if (p)
        memset(p, 0, size);
    return p;
}

static void weights_free(struct tvmr_weights *w)
{
    free(w->codes);
    free(w->lows);
    free(w->sums);
    *w = (struct tvmr_weights){0};
}

void tvmr_prepared_free(struct tvmr_prepared *p)
{
    if (!p) return;
    for (int i = 0; i < 3; i++) weights_free(&p->weights[i]);
    free(p->input.bytes);
    free(p);
}

struct survey {
    int largest, equal; /* the common magnitude of the weights that are not 0; -1 when they
                         * differ */
    bool ternary;       /* Every polarity is -1, 0 or 1. */
};

static struct survey prepare_weights_look(struct tvmr_vm *vm, const struct tvmr_cold *c)
{
    struct survey s = {0, 0, true};
    for (size_t i = 0; MORE(i, c->count); i++) {
        int p = c->weights[i].polarity, v = abs(tvmr_value(c->weights[i]));
        s.ternary &= p >= -1 && p <= 1;
        if (v > s.largest) s.largest = v;
        if (v && !s.equal) s.equal = v;
        if (v && v != s.equal) s.equal = -1;
    }
    return s;
}

static size_t row_bytes(enum tvmr_form form, size_t chunks)
{
    switch (form) {
    case TVMR_FORM_TWO: return (chunks + 3) / 4 * 64;
    case TVMR_FORM_EIGHT:
    case TVMR_FORM_NINE: return chunks * 64;
    default: return chunks * 128;
    }
}

static void put_low(struct tvmr_weights *w, size_t row, size_t column, unsigned bit)
{
    size_t chunk = column / 64;
    uint8_t *pair = w->lows + (row / 4 * w->chunks + chunk / 2 * 2) * 32;
    pair[column % 64] |= (uint8_t)(bit << (row % 4 + chunk % 2 * 4));
}

static void encode_row(struct tvmr_weights *w, const struct tvmr_signal *from, size_t row)
{
    uint8_t *codes = w->codes + row * w->stride;
    for (size_t i = 0; i < w->cols; i++) {
        int v = tvmr_value(from[i]);
        int code = w->form == TVMR_FORM_TWO ? (v > 0) - (v < 0) + 1 : v + w->offset;
        switch (w->form) {
        case TVMR_FORM_TWO:
            codes[i / 256 * 64 + i % 64] |= (uint8_t)(code << (i / 64 % 4 * 2));
            break;
        case TVMR_FORM_EIGHT: codes[i] = (uint8_t)code; break;
        case TVMR_FORM_NINE:
            codes[i] = (uint8_t)(code >> 1);
            put_low(w, row, i, code & 1);
            break;
        default: ((int16_t *)(void *)codes)[i] = (int16_t)code; break;
        }
        w->sums[row] += code;
    }
}

static bool prepare_weights_room(struct tvmr_vm *vm, struct tvmr_weights *w)
{
    bool nine = w->form == TVMR_FORM_NINE;
    if (nine) w->chunks = (w->chunks + 1) / 2 * 2;
    w->stride = row_bytes(w->form, w->chunks);
    w->codes = prepare_weights_aligned(vm, w->rows * w->stride);
    w->sums = calloc(w->rows + 4, sizeof *w->sums); /* Kernels read four sums at once, so they
                                                     * may read past the last row. */
    if (nine) w->lows = prepare_weights_aligned(vm, (w->rows + 3) / 4 * w->chunks * 32);
    return w->codes && w->sums && (w->lows || !nine);
}

static void prepare_plain(struct tvmr_vm *vm, struct tvmr_weights *w, const struct tvmr_cold *c)
{
    struct survey s = prepare_weights_look(vm, c);
    if (!s.ternary)
        return; /* Weights from outside may have other polarities, and only the plain C
                 * definition handles these. */
    bool bytes = vm->kernels == TVMR_KERNELS_AVX512;
    bool wide = w->cols > NINE_COLUMNS || c->count <= WIDE_BYTES / 2;
    w->form = s.equal >= 0       ? TVMR_FORM_TWO
              : !bytes           ? TVMR_FORM_WIDE
              : s.largest <= 127 ? TVMR_FORM_EIGHT
              : wide             ? TVMR_FORM_WIDE
                                 : TVMR_FORM_NINE;
    w->magnitude = w->form == TVMR_FORM_TWO ? s.equal : 1;
    w->offset = w->form == TVMR_FORM_TWO     ? 1
                : w->form == TVMR_FORM_EIGHT ? 128
                : w->form == TVMR_FORM_NINE  ? 255
                                             : 0;
    if (!prepare_weights_room(vm, w)) {
        weights_free(w);
        return;
    }
    for (size_t r = 0; r < w->rows && may_work(vm, w->cols / 4 + 1); r++)
        encode_row(w, c->weights + r * w->cols, r);
}

static void prepare_gated(struct tvmr_vm *vm, struct tvmr_weights *w, const struct tvmr_cold *c,
                          enum tvmr_gate gate)
{
    if (!prepare_weights_look(vm, c).ternary) return;
    w->form = gate == TVMR_GATE_CORE ? TVMR_FORM_CORE : TVMR_FORM_EXTENSION;
    w->magnitude = 1;
    if (!prepare_weights_room(vm, w)) {
        weights_free(w);
        return;
    }
    for (size_t r = 0; r < w->rows && may_work(vm, w->cols / 4 + 1); r++) {
        int16_t *row = (int16_t *)(void *)(w->codes + r * w->stride);
        for (size_t i = 0; i < w->cols; i++) {
            uint8_t temp = c->temps[r * w->cols + i];
            unsigned t = temp > TVMR_COLD ? TVMR_COLD : temp;
            int v = tvmr_value(c->weights[r * w->cols + i]);
            if (gate == TVMR_GATE_EXTENSION) v = v * tvmr_conductance[t] / 255;
            row[i] = (int16_t)(v * 4 + (int)t);
            w->sums[r] += v;
        }
    }
}

const struct tvmr_weights *tvmr_prepare(struct tvmr_vm *vm, struct tvmr_cold *c,
                                        enum tvmr_gate gate)
{
    if (!c->prepared) c->prepared = calloc(1, sizeof *c->prepared);
    struct tvmr_prepared *p = c->prepared;
    if (!p) return NULL;
    struct tvmr_weights *w = &p->weights[gate];
    if (!p->made[gate]) {
        *w = (struct tvmr_weights){.rows = c->shape.dims[0], .cols = c->shape.dims[1]};
        w->chunks = (w->cols + 63) / 64;
        bool usual =
            c->shape.rank == 2 && w->cols && c->count == w->rows * w->cols && w->cols <= UINT16_MAX;
        if (usual && gate == TVMR_GATE_NONE) prepare_plain(vm, w, c);
        if (usual && gate != TVMR_GATE_NONE) prepare_gated(vm, w, c, gate);
        if (vm->paused) weights_free(w);
        p->made[gate] = !vm->paused;
    }
    return w->form == TVMR_FORM_NONE ? NULL : w;
}

/* Returns the size of a column in bytes, for as many planes or parts as there can be. */
static size_t input_bytes(enum tvmr_form form)
{
    switch (form) {
    case TVMR_FORM_CORE: return 2 * (4 * TVMR_PARTS + 4);
    case TVMR_FORM_EXTENSION: return 2 * 4 * TVMR_PARTS;
    default: return TVMR_PLANES;
    }
}

bool tvmr_input_room(struct tvmr_input *in, const struct tvmr_weights *w)
{
    in->stride = (w->form == TVMR_FORM_TWO ? (w->chunks + 3) / 4 * 4 : w->chunks) * 64;
    size_t need = in->stride * input_bytes(w->form);
    if (in->room >= need) return true;
    free(in->bytes);
    in->bytes = prepare_weights_aligned(NULL, need);
    in->parts = (int16_t *)(void *)in->bytes;
    in->room = in->bytes ? need : 0;
    return in->bytes != NULL;
}
