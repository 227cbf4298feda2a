/* Weights and inputs in the forms of kernels.h. */
#include "tvmr/kernels.h"
#include <stdlib.h>

enum { ALIGN = 64, NINE_COLUMNS = 32767 }; /* 510 * 128 * 32767 is below 2^31 */

static void *aligned(size_t bytes)
{
    size_t size = (bytes + ALIGN - 1) / ALIGN * ALIGN;
    void *p = aligned_alloc(ALIGN, size ? size : ALIGN);
    if (p) memset(p, 0, size ? size : ALIGN);
    return p;
}

static void weights_free(struct tvmr_weights *w)
{
    free(w->codes);
    free(w->masks);
    free(w->sums);
    *w = (struct tvmr_weights){0};
}

void tvmr_prepared_free(struct tvmr_prepared *p)
{
    if (!p) return;
    for (int i = 0; i < 3; i++)
        weights_free(&p->weights[i]);
    free(p->input.bytes);
    free(p->input.parts);
    free(p->input.rests);
    free(p->input.signs);
    free(p);
}

/* ---- weights without gates ---- */

struct survey {
    int largest, equal; /* magnitude of all that are not 0; -1: they differ */
    bool ternary;       /* every polarity is -1, 0 or 1 */
};

static struct survey look(const struct tvmr_cold *c)
{
    struct survey s = {0, 0, true};
    for (size_t i = 0; i < c->count; i++) {
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
    case TVMR_FORM_WIDE:
    case TVMR_FORM_GATED: return chunks * 128;
    default: return chunks * 64;
    }
}

static void encode_row(struct tvmr_weights *w, const struct tvmr_signal *from, size_t row)
{
    uint8_t *codes = w->codes + row * w->stride;
    for (size_t i = 0; i < w->cols; i++) {
        int v = tvmr_value(from[i]);
        unsigned code =
            (unsigned)(w->form == TVMR_FORM_TWO ? (v > 0) - (v < 0) + 1 : v + w->offset);
        switch (w->form) {
        case TVMR_FORM_TWO:
            codes[i / 256 * 64 + i % 64] |= (uint8_t)(code << (i / 64 % 4 * 2));
            break;
        case TVMR_FORM_EIGHT: codes[i] = (uint8_t)code; break;
        case TVMR_FORM_NINE:
            codes[i] = (uint8_t)(code >> 1);
            w->masks[row * w->chunks + i / 64] |= (uint64_t)(code & 1) << (i % 64);
            break;
        default: ((int16_t *)(void *)codes)[i] = (int16_t)v; break;
        }
        w->sums[row] += code;
    }
}

static bool room(struct tvmr_weights *w)
{
    w->stride = row_bytes(w->form, w->chunks);
    w->codes = aligned(w->rows * w->stride);
    w->sums = calloc(w->rows + 4, sizeof *w->sums); /* read in fours */
    if (w->form == TVMR_FORM_NINE) w->masks = calloc(w->rows * w->chunks + 1, sizeof *w->masks);
    return w->codes && w->sums && (w->masks || w->form != TVMR_FORM_NINE);
}

static void prepare_plain(struct tvmr_weights *w, const struct tvmr_cold *c, unsigned kernels)
{
    struct survey s = look(c);
    if (!s.ternary) return; /* weights from outside with other polarities: the definition */
    bool bytes = kernels == TVMR_KERNELS_AVX512;
    w->form = !bytes                    ? TVMR_FORM_WIDE
              : s.equal >= 0            ? TVMR_FORM_TWO
              : s.largest <= 127        ? TVMR_FORM_EIGHT
              : w->cols <= NINE_COLUMNS ? TVMR_FORM_NINE
                                        : TVMR_FORM_WIDE;
    w->magnitude = w->form == TVMR_FORM_TWO ? s.equal : 1;
    w->offset = w->form == TVMR_FORM_TWO     ? 1
                : w->form == TVMR_FORM_EIGHT ? 128
                : w->form == TVMR_FORM_NINE  ? 255
                                             : 0;
    if (!room(w)) {
        weights_free(w);
        return;
    }
    for (size_t r = 0; r < w->rows; r++)
        encode_row(w, c->weights + r * w->cols, r);
}

/* ---- with gates ---- */

static void prepare_gated(struct tvmr_weights *w, const struct tvmr_cold *c, enum tvmr_gate gate)
{
    if (!look(c).ternary) return;
    w->form = TVMR_FORM_GATED;
    w->gate = gate;
    if (!room(w)) {
        weights_free(w);
        return;
    }
    for (size_t i = 0; i < c->count; i++) {
        unsigned t = c->temps[i] > TVMR_COLD ? TVMR_COLD : c->temps[i];
        int v = tvmr_value(c->weights[i]);
        if (gate == TVMR_GATE_EXTENSION) v = v * tvmr_conductance[t] / 255;
        int16_t *row = (int16_t *)(void *)(w->codes + i / w->cols * w->stride);
        row[i % w->cols] = (int16_t)(v * 4 + (int)t);
    }
}

const struct tvmr_weights *tvmr_prepare(struct tvmr_cold *c, enum tvmr_gate gate, unsigned kernels)
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
        if (usual && gate == TVMR_GATE_NONE) prepare_plain(w, c, kernels);
        if (usual && gate != TVMR_GATE_NONE && kernels == TVMR_KERNELS_AVX512)
            prepare_gated(w, c, gate);
        p->made[gate] = true;
    }
    return w->form == TVMR_FORM_NONE ? NULL : w;
}

/* ---- inputs ---- */

static bool input_room(struct tvmr_prepared *p, size_t chunks, bool gated)
{
    struct tvmr_input *in = &p->input;
    if (p->input_room < chunks || !in->bytes) {
        free(in->bytes);
        free(in->parts);
        free(in->rests);
        free(in->signs);
        *in = (struct tvmr_input){0};
        in->bytes = aligned(chunks * 64 * TVMR_PLANES);
        p->input_room = chunks;
    }
    if (gated && !in->rests) {
        in->rests = aligned(p->input_room * 64 * 2 * 4);
        in->signs = aligned(p->input_room * 64 * 2);
    }
    if (!in->parts) in->parts = aligned(p->input_room * 64 * 2 * 4 * TVMR_PARTS);
    return in->bytes && in->parts && (!gated || (in->rests && in->signs));
}

/* How many 16-bit parts hold every element. */
static unsigned parts_for(const int32_t *x, size_t count)
{
    uint32_t all = 0;
    for (size_t i = 0; i < count; i++)
        all |= (uint32_t)(x[i] ^ x[i] >> 31);
    return all < 1u << 15 ? 1 : TVMR_PARTS;
}

/* Only weights in bytes want these, hence only AVX-512. */
static void byte_planes(struct tvmr_input *in, const int32_t *x, size_t count, size_t cols)
{
    uint32_t all = tvmr_range_avx512(x, count, &in->sum);
    in->planes = all < 1u << 7 ? 1 : all < 1u << 15 ? 2 : all < 1u << 23 ? 3 : 4;
    for (unsigned k = 0; k < in->planes; k++) {
        uint8_t *plane = in->bytes + k * in->stride, flip = k + 1 < in->planes ? 0x80 : 0;
        tvmr_plane_avx512(x, count, 8 * k, flip, plane);
        if (cols > count) memset(plane + count, flip, cols - count); /* missing elements are 0 */
        memset(plane + cols, 0, in->stride - cols);
    }
}

/* One number as 16-bit parts: itself, or 11 bits each with the sign in the last. */
static void put_parts(struct tvmr_input *in, size_t at, size_t step, int32_t v)
{
    if (in->planes == 1) {
        in->parts[at] = (int16_t)v;
        return;
    }
    in->parts[at] = (int16_t)(v & 2047);
    in->parts[at + step] = (int16_t)(v >> 11 & 2047);
    in->parts[at + 2 * step] = (int16_t)(v >> 22);
}

static void wide_parts(struct tvmr_input *in, const int32_t *x, size_t count)
{
    size_t columns = in->stride;
    memset(in->parts, 0, columns * 2 * in->planes);
    for (size_t i = 0; i < count; i++)
        put_parts(in, i, columns, x[i]);
}

static void gated_parts(struct tvmr_input *in, enum tvmr_gate gate, const int32_t *x, size_t count)
{
    size_t columns = in->stride;
    memset(in->parts, 0, columns * 2 * 4 * in->planes);
    memset(in->rests, 0, columns * 2 * 4);
    memset(in->signs, 0, columns * 2);
    for (size_t i = 0; i < count; i++) {
        int64_t magnitude = x[i] < 0 ? -(int64_t)x[i] : x[i];
        int64_t level =
            gate == TVMR_GATE_CORE ? (magnitude > 255 ? 255 : magnitude) : (magnitude & 255);
        in->signs[i] = (int16_t)((x[i] > 0) - (x[i] < 0));
        for (unsigned t = 0; t < 4; t++) {
            if (level < tvmr_threshold[t]) continue;
            int64_t scaled = magnitude * tvmr_conductance[t], a = x[i];
            if (gate == TVMR_GATE_CORE) {
                a = scaled / 255;
                in->rests[t * columns + i] = (uint16_t)(scaled - a * 255);
                if (x[i] < 0) a = -a;
            }
            put_parts(in, t * columns + i, 4 * columns, (int32_t)a);
        }
    }
}

bool tvmr_prepare_input(struct tvmr_prepared *p, const struct tvmr_weights *w, enum tvmr_gate gate,
                        const int32_t *x, size_t count)
{
    struct tvmr_input *in = &p->input;
    bool bytes =
        w->form == TVMR_FORM_TWO || w->form == TVMR_FORM_EIGHT || w->form == TVMR_FORM_NINE;
    size_t padded = w->form == TVMR_FORM_TWO ? (w->chunks + 3) / 4 * 4 : w->chunks;
    if (!input_room(p, padded, w->form == TVMR_FORM_GATED)) return false;
    in->stride = padded * 64;
    if (bytes) {
        byte_planes(in, x, count, w->cols);
        return true;
    }
    in->planes = parts_for(x, count);
    if (w->form == TVMR_FORM_WIDE)
        wide_parts(in, x, count);
    else
        gated_parts(in, gate, x, count);
    return true;
}
