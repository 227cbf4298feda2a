/* Has the handlers for attention, rotary positions, norms and key-value caches (TVMR 8.1), and
 * for sampling (TVMR 8.13). */
#include "tvmr/kernels/elements.h"
#include "tvmr/vm/ops.h"

struct matrix {
    const struct tvmr_hot *h;
    size_t rows, cols;
};

static struct matrix matrix_of(const struct tvmr_hot *h)
{
    size_t rows = dim_at(&h->shape, 0, 1);
    if (!rows) rows = 1;
    size_t cols = h->shape.rank < 2 ? h->count / rows : h->shape.dims[1];
    return (struct matrix){h, rows, cols ? cols : 1};
}

/* Finds the part of a row that has data. The rest of the row is 0. */
static size_t row_data(const struct matrix *m, size_t row, const int32_t **data)
{
    uint64_t at = (uint64_t)row * m->cols;
    *data = at < m->h->count ? m->h->data + at : NULL;
    return at < m->h->count ? min_size(m->cols, m->h->count - (size_t)at) : 0;
}

/* Turns the scores of a query row into shares of 255. */
static void ops_tensor_shares(struct tvmr_vm *vm, int64_t *score, size_t count)
{
    int64_t most = score[0], total = 0;
    for (size_t j = 0; MORE(j, count); j++) most = score[j] > most ? score[j] : most;
    for (size_t j = 0; MORE(j, count); j++) {
        int64_t e = 256 + ops_clamp(ops_wadd(score[j], -most), -1024, 1024) / 256;
        score[j] = e > 1 ? e : 1;
        total += score[j];
    }
    for (size_t j = 0; MORE(j, count); j++) score[j] = score[j] * 255 / total;
}

static int64_t score_of(struct tvmr_vm *vm, const int32_t *query, const int32_t *key, size_t count)
{
    int64_t sum = 0;
    for (PIECES(i, n, count))
        sum = ops_wadd(sum, tvmr_elements[vm->kernels]->dot(query + i, key + i, n));
    return sum;
}

HANDLER(attention)
{
    NEED_HOT(hq, in->a[0]);
    NEED_HOT(hk, in->a[1]);
    NEED_HOT(hv, in->a[2]);
    struct matrix q = matrix_of(hq), k = matrix_of(hk), v = matrix_of(hv);
    if (q.cols != k.cols)
        return ops_fail(vm, TVMR_E_SHAPE, "queries of %zu, keys of %zu columns", q.cols, k.cols);
    if (k.rows != v.rows) return ops_fail(vm, TVMR_E_SHAPE, "%zu keys, %zu values", k.rows, v.rows);
    int32_t *r = ops_result(vm, q.rows * v.cols);
    int64_t *score = r ? (int64_t *)(void *)ops_auxiliary(vm, 0, k.rows * 2) : NULL;
    int64_t *sum = score ? (int64_t *)(void *)ops_auxiliary(vm, 1, v.cols * 2) : NULL;
    if (!sum) return TVMR_FAILED;
    for (size_t i = 0; i < q.rows && may_work(vm, 1); i++) {
        const int32_t *query, *row;
        size_t width = row_data(&q, i, &query);
        for (size_t j = 0; MORE(j, k.rows); j++) {
            size_t n = min_size(width, row_data(&k, j, &row));
            score[j] = score_of(vm, query, row, n);
        }
        if (vm->paused) break; /* The interrupt left some scores missing. */
        ops_tensor_shares(vm, score, k.rows);
        work_fill(vm, sum, 0, v.cols * sizeof *sum);
        for (size_t j = 0; MORE(j, k.rows); j++) {
            size_t n = row_data(&v, j, &row);
            for (PIECES(from, m, n))
                for (size_t c = from; c < from + m; c++) sum[c] += score[j] * row[c];
        }
        for (size_t c = 0; MORE(c, v.cols); c++) r[i * v.cols + c] = ops_wrap32(sum[c] / 255);
    }
    return put_matrix(vm, in->a[3], q.rows, v.cols);
}

/* The table gives the angle from which the cosine has the values 256, 255, ... */
static const uint16_t cos_from[] = {0, 1, 177, 251, 307, 355};
static const uint16_t sin_from[] = {0,   8,   16,  24,  32,  40,  47,  55,  63,  71,  79,  86,  94,
                                    102, 110, 118, 126, 133, 141, 149, 157, 165, 173, 180, 188, 196,
                                    204, 212, 220, 228, 235, 243, 251, 259, 267, 275, 283, 291, 298,
                                    306, 314, 322, 330, 338, 346, 354, 362, 370, 378};

static int64_t run_of(const uint16_t *from, size_t count, unsigned k)
{
    size_t i = 1;
    while (i < count && from[i] <= k) i++;
    return (int64_t)i - 1;
}

HANDLER(rope_apply)
{
    struct tvmr_hot *h = hot_change(vm, in->a[0]);
    if (!h) return ops_unallocated(vm, 'H', in->a[0]);
    size_t width = last_dim(h);
    if (!width) width = 1;
    size_t n = min_size(in->a[1], width);
    if (n < 2) return TVMR_NEXT;
    int64_t sine[128], cosine[128];
    for (size_t i = 0; i < n; i += 2) {
        unsigned k = (in->a[2] + (unsigned)i / 2) % 1024;
        sine[i / 2] = run_of(sin_from, sizeof sin_from / sizeof *sin_from, k);
        cosine[i / 2] = 256 - run_of(cos_from, sizeof cos_from / sizeof *cos_from, k);
    }
    for (size_t at = vm->progress; at + width <= h->count; at += width) {
        if (!may_work(vm, n)) {
            vm->progress = at;
            return TVMR_NEXT;
        }
        for (size_t i = 0; i < n; i += 2) {
            if (at + i + 1 >= h->count)
                return ops_fail(vm, TVMR_E_RANGE, "an odd number of elements to rotate");
            int64_t x = h->data[at + i], y = h->data[at + i + 1], c = cosine[i / 2],
                    s = sine[i / 2];
            h->data[at + i] = ops_clamp32((x * c - y * s) / 256);
            h->data[at + i + 1] = ops_clamp32((x * s + y * c) / 256);
        }
    }
    return TVMR_NEXT;
}

/* Computes a square root by these exact steps, because programs depend on them. The result is
 * not always the largest whole root. */
static int64_t ops_tensor_root(int64_t n)
{
    if (n <= 1) return n;
    int64_t a = n / 2, b = (a + n / a) / 2;
    while (ops_absolute(b - a) > 1) {
        a = b;
        b = (a + n / a) / 2;
    }
    return b > 1 ? b : 1;
}

/* Returns a register as n numbers. They are a hot register with at least n elements, weights
 * with zeros after them, or only zeros. */
static int32_t *vector_of(struct tvmr_vm *vm, uint8_t reg, size_t n, unsigned which)
{
    int32_t *out = ops_auxiliary(vm, which, n);
    if (!out) return NULL;
    work_fill(vm, out, 0, n * sizeof *out);
    const struct tvmr_hot *h = reg >> 6 == 0 ? hot_at(vm, reg) : NULL;
    const struct tvmr_cold *c = reg >> 6 == 1 ? cold_at(vm, reg) : NULL;
    if (h && h->count >= n) work_move(vm, out, h->data, n * sizeof *out);
    for (size_t i = 0; c && MORE(i, min_size(n, c->count)); i++) out[i] = tvmr_value(c->weights[i]);
    return out;
}

static void norm_row(struct tvmr_vm *vm, const int32_t *x, size_t n, bool centred,
                     const int32_t *scale, const int32_t *shift, int32_t *r)
{
    int64_t sum = 0, squares = 0, length = (int64_t)n;
    for (PIECES(from, m, centred ? n : 0))
        for (size_t i = from; i < from + m; i++) sum += x[i];
    int64_t mean = sum / length;
    for (PIECES(from, m, n))
        for (size_t i = from; i < from + m; i++)
            squares = ops_wadd(squares, ops_wmul(x[i] - mean, x[i] - mean));
    int64_t d = squares / length;
    d = ops_tensor_root(d > 1 ? d : 1);
    for (PIECES(from, m, n))
        for (size_t i = from; i < from + m; i++)
            r[i] = ops_clamp32(
                ops_wadd(ops_wmul((x[i] - mean) * 256 / d, scale[i]) / 255, shift ? shift[i] : 0));
}

static enum tvmr_result ops_tensor_norm(struct tvmr_vm *vm, const struct tvmr_insn *in, bool layer)
{
    NEED_HOT(x, in->a[0]);
    size_t width = last_dim(x);
    if (!width) width = 1;
    int32_t *r = ops_result(vm, x->count);
    int32_t *scale = r ? vector_of(vm, in->a[2], width, 0) : NULL;
    int32_t *shift = scale && layer ? vector_of(vm, in->a[3], width, 1) : NULL;
    if (!scale || (layer && !shift)) return TVMR_FAILED;
    work_fill(vm, r, 0, x->count * sizeof *r);
    for (size_t at = 0; at + width <= x->count && may_work(vm, 1); at += width)
        norm_row(vm, x->data + at, width, layer, scale, shift, r + at);
    return put_like(vm, in->a[1], x);
}

HANDLER(layernorm) { return ops_tensor_norm(vm, in, true); }
HANDLER(rmsnorm) { return ops_tensor_norm(vm, in, false); }

static size_t row_width(const struct tvmr_hot *h, uint8_t wanted)
{
    size_t width = last_dim(h);
    return wanted ? min_size(wanted, width) : width;
}

static enum tvmr_result kv_append(struct tvmr_vm *vm, const struct tvmr_insn *in, unsigned pos)
{
    NEED_HOT(kv, in->a[1]);
    const struct tvmr_hot *cache = &vm->hot[INDEX(in->a[0])];
    size_t w = row_width(kv, in->a[3]), old = cache->present ? cache->count : 0;
    if (kv->count < w)
        return ops_fail(vm, TVMR_E_RANGE, "%zu elements for a row of %zu", kv->count, w);
    size_t n = (pos + 1) * w > old ? (pos + 1) * w : old;
    int32_t *r = ops_result(vm, n);
    if (!r) return TVMR_FAILED;
    work_move(vm, r, cache->data, old * sizeof *r);
    if (n > old) work_fill(vm, r + old, 0, (n - old) * sizeof *r);
    work_move(vm, r + pos * w, kv->data, w * sizeof *r);
    return put_matrix(vm, in->a[0], pos + 1, w);
}

static enum tvmr_result kv_read(struct tvmr_vm *vm, const struct tvmr_insn *in, unsigned pos)
{
    NEED_HOT(cache, in->a[0]);
    size_t w = row_width(cache, in->a[3]);
    uint64_t at = (uint64_t)pos * w;
    int32_t *r = ops_result(vm, w);
    if (!r) return TVMR_FAILED;
    size_t n = at < cache->count ? min_size(w, cache->count - (size_t)at) : 0;
    work_fill(vm, r, 0, w * sizeof *r);
    if (n) work_move(vm, r, cache->data + at, n * sizeof *r);
    return put_matrix(vm, in->a[2], 1, w);
}

/* Reads element 0 of a register as a position. */
static bool ops_tensor_position(struct tvmr_vm *vm, uint8_t reg, unsigned *pos)
{
    const int32_t *v = vector_of(vm, reg, 1, 0);
    if (v) *pos = (unsigned)(*v > 0 ? *v : 0) % 256;
    return v != NULL;
}

HANDLER(kv_append) { return kv_append(vm, in, in->a[2]); }
HANDLER(kv_read) { return kv_read(vm, in, in->a[1]); }

HANDLER(kv_append_pos)
{
    unsigned pos;
    return ops_tensor_position(vm, in->a[2], &pos) ? kv_append(vm, in, pos) : TVMR_FAILED;
}

HANDLER(kv_read_pos)
{
    unsigned pos;
    return ops_tensor_position(vm, in->a[1], &pos) ? kv_read(vm, in, pos) : TVMR_FAILED;
}

HANDLER(kv_clear) { return ops_result(vm, 0) ? put_matrix(vm, in->a[0], 0, 0) : TVMR_FAILED; }

enum { EXCLUDED = -1073741824 };

static int64_t first_of(struct tvmr_vm *vm, uint8_t reg, int64_t otherwise)
{
    const struct tvmr_hot *h = hot_at(vm, reg);
    return h && h->count ? h->data[0] : otherwise;
}

HANDLER(sample_temperature)
{
    NEED_HOT(x, in->a[1]);
    int64_t t = first_of(vm, in->a[2], 1);
    int32_t *r = ops_result(vm, x->count);
    if (!r) return TVMR_FAILED;
    if (t < 1) t = 1;
    for (size_t i = 0; MORE(i, x->count); i++) r[i] = ops_clamp32((int64_t)x->data[i] * 256 / t);
    return put_like(vm, in->a[0], x);
}

/* Moves a key down the heap until no key below it is greater. */
static void ops_tensor_sift(uint64_t *keys, size_t at, size_t count)
{
    uint64_t key = keys[at];
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && keys[child + 1] > keys[child]) child++;
        if (keys[child] <= key) break;
        keys[at] = keys[child];
    }
    keys[at] = key;
}

/* Sorts keys in ascending order by a heap sort, which needs no other memory and can be
 * interrupted anywhere. */
static void ops_tensor_sort(struct tvmr_vm *vm, uint64_t *keys, size_t count)
{
    for (size_t i = count / 2; i && may_work(vm, 1); i--) ops_tensor_sift(keys, i - 1, count);
    for (size_t i = count; i > 1 && may_work(vm, 2); i--) {
        uint64_t last = keys[i - 1];
        keys[i - 1] = keys[0];
        keys[0] = last;
        ops_tensor_sift(keys, 0, i - 1);
    }
}

/* Ranks the elements. A key has the index in its lower half, so elements are in the order of
 * falling value, and equal ones in the order of their index. */
static uint64_t *ops_tensor_ranking(struct tvmr_vm *vm, const struct tvmr_hot *x)
{
    uint64_t *keys = (uint64_t *)(void *)ops_auxiliary(vm, 0, x->count * 2);
    if (!keys) return NULL;
    for (size_t i = 0; MORE(i, x->count); i++)
        keys[i] = (uint64_t)((uint32_t)x->data[i] ^ 0x7fffffffu) << 32 | i;
    ops_tensor_sort(vm, keys, x->count);
    return vm->paused ? NULL : keys;
}

/* Keeps the first `count` elements of the ranking. */
static enum tvmr_result ops_tensor_keep(struct tvmr_vm *vm, const struct tvmr_insn *in,
                                        const struct tvmr_hot *x, const uint64_t *keys,
                                        size_t count)
{
    int32_t *r = ops_result(vm, x->count);
    if (!r) return TVMR_FAILED;
    for (size_t i = 0; MORE(i, x->count); i++) r[i] = EXCLUDED;
    for (size_t i = 0; MORE(i, min_size(count, x->count)); i++)
        r[(uint32_t)keys[i]] = x->data[(uint32_t)keys[i]];
    return put_like(vm, in->a[0], x);
}

HANDLER(sample_top_k)
{
    NEED_HOT(x, in->a[1]);
    int64_t k = first_of(vm, in->a[2], 1);
    const uint64_t *keys = ops_tensor_ranking(vm, x);
    return keys ? ops_tensor_keep(vm, in, x, keys, (size_t)(k > 1 ? k : 1)) : TVMR_FAILED;
}

HANDLER(sample_top_p)
{
    NEED_HOT(x, in->a[1]);
    int64_t p = ops_clamp(first_of(vm, in->a[2], 255), 1, 255), total = 0, running = 0;
    const uint64_t *keys = ops_tensor_ranking(vm, x);
    int32_t *e = keys ? ops_auxiliary(vm, 1, x->count) : NULL;
    if (!e) return TVMR_FAILED;
    int32_t most = x->count ? x->data[(uint32_t)keys[0]] : 0;
    for (size_t i = 0; MORE(i, x->count); i++) {
        int64_t share = 256 + ops_clamp(ops_wrap32((int64_t)x->data[i] - most), -1024, 1024);
        e[i] = (int32_t)(share > 1 ? share : 1);
        total += e[i];
    }
    size_t count = 0;
    while (MORE(count, x->count) && (running < total * p / 255 || !count))
        running += e[(uint32_t)keys[count++]];
    return ops_tensor_keep(vm, in, x, keys, count);
}

HANDLER(sample_rep_penalty)
{
    NEED_HOT(x, in->a[1]);
    int64_t penalty = first_of(vm, in->a[3], 0);
    const struct tvmr_hot *history = hot_at(vm, in->a[2]);
    int32_t *r = ops_result(vm, x->count);
    if (!r) return TVMR_FAILED;
    work_move(vm, r, x->data, x->count * sizeof *r);
    for (size_t i = 0; history && MORE(i, history->count); i++) {
        int32_t token = history->data[i];
        if (token >= 0 && (size_t)token < x->count) r[token] = ops_clamp32(r[token] - penalty);
    }
    return put_like(vm, in->a[0], x);
}
