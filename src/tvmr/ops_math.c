/* Element by element: arithmetic and activations of the core and of the extensions tensor and
 * activation. The two sets of formulas differ on purpose: both are what programs were trained on.
 * Loops are plain, so that compilers turn them into vector code. */
#include "tvmr/ops.h"

/* H[A] = expression of v, for each element of H[B]. */
#define UNARY(name, expression)                                                                    \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        NEED_HOT(x, in->a[1]);                                                                     \
        size_t n = x->count;                                                                       \
        int32_t *restrict r = result(vm, n);                                                       \
        if (!r) return TVMR_FAILED;                                                                \
        const int32_t *restrict data = x->data;                                                    \
        for (size_t i = 0; i < n; i++) {                                                           \
            int64_t v = data[i];                                                                   \
            r[i] = (int32_t)(expression);                                                          \
        }                                                                                          \
        return put_like(vm, in->a[0], x);                                                          \
    }

/* H[A] = expression of a and b, over the shorter of H[B] and H[C]. */
#define BINARY(name, expression, finish)                                                           \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        NEED_HOT(x, in->a[1]);                                                                     \
        NEED_HOT(y, in->a[2]);                                                                     \
        size_t n = min_size(x->count, y->count);                                                   \
        int32_t *restrict r = result(vm, n);                                                       \
        if (!r) return TVMR_FAILED;                                                                \
        const int32_t *xs = x->data, *ys = y->data;                                                \
        for (size_t i = 0; i < n; i++) {                                                           \
            int64_t a = xs[i], b = ys[i];                                                          \
            r[i] = (int32_t)(expression);                                                          \
        }                                                                                          \
        return finish;                                                                             \
    }
#define LIKE put_like(vm, in->a[0], x)
#define LIST put_list(vm, in->a[0])

/* ---- core ---- */

BINARY(core_sub, clamp32(a - b), LIKE)
BINARY(core_mul, wrap32((a * b) >> 8), LIKE)
BINARY(core_cmp_gt, a > b ? 255 : 0, LIKE)

UNARY(relu, v > 0 ? v : 0)

HANDLER(shift)
{
    NEED_HOT(x, in->a[1]);
    int32_t *r = result(vm, x->count);
    unsigned n = in->a[2] & 31u;
    if (!r) return TVMR_FAILED;
    for (size_t i = 0; i < x->count; i++)
        r[i] = x->data[i] >> n;
    return put_like(vm, in->a[0], x);
}

HANDLER(core_sigmoid)
{
    NEED_HOT(x, in->a[1]);
    int64_t gain = in->a[3] ? in->a[3] : 64;
    int32_t *r = result(vm, x->count);
    if (!r) return TVMR_FAILED;
    for (size_t i = 0; i < x->count; i++)
        r[i] = (int32_t)clamp((x->data[i] * gain >> 10) + 128, 0, 255);
    return put_like(vm, in->a[0], x);
}

static int32_t tanh_around_128(int64_t v)
{
    int64_t c = clamp(v, 0, 255) - 128, d = 64 + (absolute(c) >> 1);
    return (int32_t)clamp(c * 64 / d + 128, 0, 255);
}

static int32_t gated(int64_t v)
{
    int64_t gate = clamp((v * 435 >> 8 >> 10) + 128, 0, 255);
    return wrap32(v * gate >> 8);
}

UNARY(core_tanh, tanh_around_128(v))
UNARY(core_gelu, gated(v))

static int32_t largest(const int32_t *data, size_t count)
{
    int32_t m = count ? data[0] : 0;
    for (size_t i = 1; i < count; i++)
        m = data[i] > m ? data[i] : m;
    return m;
}

/* e = 256 for the largest, less for others down to floor, never below 1. Differences wrap. */
static enum tvmr_result softmax(struct tvmr_vm *vm, const struct tvmr_insn *in, int64_t floor,
                                bool cap)
{
    NEED_HOT(x, in->a[1]);
    int32_t *r = result(vm, x->count), m = largest(x->data, x->count);
    if (!r) return TVMR_FAILED;
    int64_t sum = 0;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < x->count; i++) {
            int64_t d = wrap32((int64_t)x->data[i] - m);
            if (cap && d > 0) d = 0;
            if (d < floor) d = floor;
            int64_t e = 256 + d > 1 ? 256 + d : 1;
            if (pass)
                r[i] = wrap32(e * 255 / sum);
            else
                sum += e;
        }
    return put_like(vm, in->a[0], x);
}

HANDLER(core_softmax)
{
    return softmax(vm, in, -256, true);
}
HANDLER(act_softmax)
{
    return softmax(vm, in, -1024, false);
}

HANDLER(core_clamp)
{
    NEED_HOT(x, in->a[1]);
    if (in->a[2] > in->a[3] && x->count)
        return fail(vm, TVMR_E_RANGE, "clamp to %u..%u", in->a[2], in->a[3]);
    int32_t *r = result(vm, x->count);
    if (!r) return TVMR_FAILED;
    for (size_t i = 0; i < x->count; i++)
        r[i] = (int32_t)clamp(x->data[i], in->a[2], in->a[3]);
    return put_like(vm, in->a[0], x);
}

/* a + scale * weights, for as many as there are. */
static enum tvmr_result bias(struct tvmr_vm *vm, uint8_t to, const struct tvmr_hot *x,
                             const struct tvmr_cold *c, int64_t scale)
{
    int32_t *r = result(vm, x->count);
    if (!r) return TVMR_FAILED;
    size_t n = min_size(x->count, c->count);
    for (size_t i = 0; i < n; i++)
        r[i] = clamp32(x->data[i] + tvmr_value(c->weights[i]) * scale);
    for (size_t i = n; i < x->count; i++)
        r[i] = x->data[i];
    return put_like(vm, to, x);
}

HANDLER(add_bias)
{
    NEED_HOT(x, in->a[1]);
    NEED_COLD(c, in->a[2]);
    return bias(vm, in->a[0], x, c, 256);
}

HANDLER(core_add)
{
    if (in->a[1] >> 6 || in->a[2] >> 6 > 1) return TVMR_NEXT;
    NEED_HOT(x, in->a[1]);
    if (in->a[2] >> 6) {
        NEED_COLD(c, in->a[2]);
        return bias(vm, in->a[0], x, c, 255);
    }
    NEED_HOT(y, in->a[2]);
    int32_t *r = result(vm, x->count);
    if (!r) return TVMR_FAILED;
    size_t n = min_size(x->count, y->count);
    for (size_t i = 0; i < n; i++)
        r[i] = clamp32((int64_t)x->data[i] + y->data[i]);
    for (size_t i = n; i < x->count; i++)
        r[i] = x->data[i];
    return put_like(vm, in->a[0], x);
}

HANDLER(wire_skip)
{
    if (in->a[2] > 0x3f) return unallocated(vm, 'H', in->a[2]);
    NEED_HOT(x, in->a[1]);
    NEED_HOT(y, in->a[2]);
    size_t n = x->count > y->count ? x->count : y->count;
    if (n && (!x->count || !y->count))
        return fail(vm, TVMR_E_RANGE, "one of the operands is empty");
    int32_t *r = result(vm, n);
    if (!r) return TVMR_FAILED;
    for (size_t i = 0; i < n; i++)
        r[i] = clamp32((int64_t)x->data[i % x->count] + y->data[i % y->count]);
    return put_like(vm, in->a[0], x);
}

/* ---- tensor ---- */

/* x + s * y over the longer of both; missing elements are 0. */
static enum tvmr_result add_padded(struct tvmr_vm *vm, uint8_t to, const struct tvmr_hot *x,
                                   const struct tvmr_hot *y, int64_t s)
{
    size_t n = x->count > y->count ? x->count : y->count;
    int32_t *r = result(vm, n);
    if (!r) return TVMR_FAILED;
    for (size_t i = 0; i < n; i++) {
        int64_t a = i < x->count ? x->data[i] : 0, b = i < y->count ? y->data[i] : 0;
        r[i] = clamp32(a + s * b);
    }
    return put_like(vm, to, x);
}

HANDLER(tensor_add)
{
    if (in->a[2] >> 6 > 1) return TVMR_NEXT;
    NEED_HOT(x, in->a[1]);
    if (in->a[2] >> 6) {
        NEED_COLD(c, in->a[2]);
        return bias(vm, in->a[0], x, c, 256);
    }
    NEED_HOT(y, in->a[2]);
    return add_padded(vm, in->a[0], x, y, 1);
}

HANDLER(tensor_sub)
{
    NEED_HOT(x, in->a[1]);
    NEED_HOT(y, in->a[2]);
    return add_padded(vm, in->a[0], x, y, -1);
}

BINARY(tensor_mul, clamp32((a * b) >> 8), LIKE)
BINARY(tensor_cmp_gt, a > b, LIST)
UNARY(tensor_negate, clamp32(-v))

HANDLER(tensor_scale)
{
    NEED_HOT(x, in->a[1]);
    int64_t scale = imm16(in);
    int32_t *r = result(vm, x->count);
    if (!r) return TVMR_FAILED;
    for (size_t i = 0; i < x->count; i++)
        r[i] = clamp32(x->data[i] * scale / 256);
    return put_like(vm, in->a[0], x);
}

HANDLER(tensor_clamp)
{
    NEED_HOT(x, in->a[1]);
    int64_t low = (in->a[2] - 128) * 256, high = (in->a[3] - 128) * 256;
    if (low > high && x->count)
        return fail(vm, TVMR_E_RANGE, "clamp to %lld..%lld", (long long)low, (long long)high);
    int32_t *r = result(vm, x->count);
    if (!r) return TVMR_FAILED;
    for (size_t i = 0; i < x->count; i++)
        r[i] = (int32_t)clamp(x->data[i], low, high);
    return put_like(vm, in->a[0], x);
}

/* ---- activation ---- */

static int32_t act_sigmoid(int64_t v)
{
    int64_t x = clamp(v, -2048, 2048);
    return (int32_t)clamp(128 + x * 32 / (256 + absolute(x)), 0, 255);
}

static int32_t act_tanh(int64_t v)
{
    int64_t x = clamp(v, -2048, 2048);
    return (int32_t)clamp(x * 127 / (128 + absolute(x)), -127, 127);
}

UNARY(act_sigmoid, act_sigmoid(v))
UNARY(act_tanh, act_tanh(v))
UNARY(act_gelu, wrap32(v *(128 + clamp(v * 54 / 256, -128, 127)) / 256))

/* ---- reductions and cuts ---- */

HANDLER(max_reduce)
{
    NEED_HOT(x, in->a[1]);
    return put_scalar(vm, in->a[0], largest(x->data, x->count));
}

HANDLER(argmax)
{
    NEED_HOT(x, in->a[1]);
    size_t best = 0;
    for (size_t i = 1; i < x->count; i++)
        if (x->data[i] >= x->data[best]) best = i;
    return put_scalar(vm, in->a[0], (int32_t)best);
}

HANDLER(reduce_avg)
{
    NEED_HOT(x, in->a[1]);
    size_t start = in->a[2], end = min_size(start + in->a[3], x->count);
    uint32_t sum = 0;
    for (size_t i = start; i < end; i++)
        sum += (uint32_t)x->data[i];
    return put_scalar(vm, in->a[0],
                      end > start ? (int32_t)((int64_t)(int32_t)sum / (int64_t)(end - start)) : 0);
}

static int64_t sum_strided(const struct tvmr_hot *x, size_t from, size_t stride, size_t count)
{
    int64_t sum = 0;
    for (size_t i = 0; i < count && from < x->count; i++, from += stride)
        sum += x->data[from];
    return sum;
}

HANDLER(reduce_mean_dim)
{
    NEED_HOT(x, in->a[1]);
    if (x->shape.rank < 2) {
        int64_t n = x->count ? (int64_t)x->count : 1;
        return put_scalar(vm, in->a[0], (int32_t)(sum_strided(x, 0, 1, x->count) / n));
    }
    size_t rows = x->shape.dims[0], cols = x->shape.dims[1], n = in->a[2] ? rows : cols;
    int32_t *r = result(vm, n);
    if (!r) return TVMR_FAILED;
    int64_t divisor = (int64_t)(in->a[2] ? cols : rows);
    for (size_t i = 0; i < n; i++) {
        int64_t sum =
            in->a[2] ? sum_strided(x, i * cols, 1, cols) : sum_strided(x, i, cols ? cols : 1, rows);
        r[i] = divisor ? (int32_t)(sum / divisor) : 0;
    }
    return put_list(vm, in->a[0]);
}

HANDLER(slice)
{
    NEED_HOT(x, in->a[1]);
    size_t start = in->a[2], end = min_size(start + in->a[3], x->count);
    size_t n = end > start ? end - start : 0;
    int32_t *r = result(vm, n);
    if (!r) return TVMR_FAILED;
    if (n) memcpy(r, x->data + start, n * sizeof *r);
    return put_list(vm, in->a[0]);
}

static bool join(struct tvmr_vm *vm, const struct tvmr_hot *x, const struct tvmr_hot *y)
{
    int32_t *r = result(vm, x->count + y->count);
    if (!r) return false;
    if (x->count) memcpy(r, x->data, x->count * sizeof *r);
    if (y->count) memcpy(r + x->count, y->data, y->count * sizeof *r);
    return true;
}

HANDLER(core_concat)
{
    NEED_HOT(x, in->a[1]);
    NEED_HOT(y, in->a[2]);
    return join(vm, x, y) ? put_list(vm, in->a[0]) : TVMR_FAILED;
}

HANDLER(tensor_concat)
{
    NEED_HOT(x, in->a[1]);
    NEED_HOT(y, in->a[2]);
    if (!join(vm, x, y)) return TVMR_FAILED;
    if (x->shape.rank != 2 || y->shape.rank != 2 || x->shape.dims[0] != y->shape.dims[0])
        return put_list(vm, in->a[0]);
    uint64_t cols = (uint64_t)x->shape.dims[1] + y->shape.dims[1];
    return put_matrix(vm, in->a[0], x->shape.dims[0],
                      (size_t)(cols > INT32_MAX ? INT32_MAX : cols));
}

HANDLER(gate_update)
{
    NEED_HOT(gate, in->a[1]);
    NEED_HOT(update, in->a[2]);
    NEED_HOT(state, in->a[3]);
    size_t n = min_size(gate->count, min_size(update->count, state->count));
    int32_t *r = result(vm, n);
    if (!r) return TVMR_FAILED;
    for (size_t i = 0; i < n; i++) {
        int64_t g = clamp(gate->data[i], 0, 255);
        r[i] = wrap32((g * update->data[i] + (255 - g) * state->data[i]) / 255);
    }
    return put_list(vm, in->a[0]);
}

static enum tvmr_result dequantized(struct tvmr_vm *vm, const struct tvmr_insn *in,
                                    const struct tvmr_hot *x)
{
    unsigned n = (imm16(in) ? imm16(in) : 8) & 31;
    int32_t *r = result(vm, x->count);
    if (!r) return TVMR_FAILED;
    for (size_t i = 0; i < x->count; i++)
        r[i] = x->data[i] >> n;
    return TVMR_NEXT;
}

HANDLER(core_dequantize) /* to the output buffer: the destination register is not used */
{
    NEED_HOT(x, in->a[1]);
    if (dequantized(vm, in, x)) return TVMR_FAILED;
    return tvmr_buffer_set(vm, &vm->output, vm->scratch.data, x->count) ? TVMR_NEXT : TVMR_FAILED;
}

HANDLER(ternary_dequantize)
{
    NEED_HOT(x, in->a[1]);
    return dequantized(vm, in, x) ? TVMR_FAILED : put_like(vm, in->a[0], x);
}
