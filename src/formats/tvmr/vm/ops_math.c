/* Has the handlers that compute element by element (TVMR 7.4, TVMR 8.1, TVMR 8.3): arithmetic
 * and activations of the core and of the extensions tensor and activation. The two sets of
 * formulas differ on purpose, because programs were trained with each. elements.def has the
 * formulas whose loops are compiled for each instruction set. */
#include "tvmr/kernels/elements.h"
#include "tvmr/vm/ops.h"

/* Computes H[A] by a loop over H[B]. */
static enum tvmr_result ops_math_unary(struct tvmr_vm *vm, const struct tvmr_insn *in,
                                       void (*loop)(int32_t *, const int32_t *, size_t, int32_t,
                                                    int32_t),
                                       int32_t p, int32_t q)
{
    NEED_HOT(x, in->a[1]);
    int32_t *r = ops_result(vm, x->count);
    if (!r) return TVMR_FAILED;
    for (PIECES(i, n, x->count)) loop(r + i, x->data + i, n, p, q);
    return put_like(vm, in->a[0], x);
}

#define LOOP(name) tvmr_elements[vm->kernels]->name
#define UNARY(name, loop, p)                                                                       \
    HANDLER(name) { return ops_math_unary(vm, in, LOOP(loop), p, 0); }

/* Computes H[A] by a loop over the shorter of H[B] and H[C]. */
#define BINARY(name, loop, finish)                                                                 \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        NEED_HOT(x, in->a[1]);                                                                     \
        NEED_HOT(y, in->a[2]);                                                                     \
        size_t n = min_size(x->count, y->count);                                                   \
        int32_t *r = ops_result(vm, n);                                                            \
        if (!r) return TVMR_FAILED;                                                                \
        for (PIECES(i, m, n)) LOOP(loop)(r + i, x->data + i, y->data + i, m);                      \
        return finish;                                                                             \
    }
#define LIKE put_like(vm, in->a[0], x)
#define LIST put_list(vm, in->a[0])

BINARY(core_sub, sub, LIKE)
BINARY(core_mul, core_mul, LIKE)
BINARY(core_cmp_gt, core_greater, LIKE)

UNARY(relu, relu, 0)
UNARY(shift, shift, in->a[2] & 31)
UNARY(core_sigmoid, core_sigmoid, in->a[3] ? in->a[3] : 64)
UNARY(core_tanh, core_tanh, 0)
UNARY(core_gelu, core_gelu, 0)

static int32_t largest_of(struct tvmr_vm *vm, const struct tvmr_hot *x)
{
    int32_t most = 0;
    for (PIECES(i, n, x->count)) {
        int32_t m = LOOP(largest)(x->data + i, n);
        if (!i || m > most) most = m;
    }
    return most;
}

/* Computes a softmax. The largest element has the weight 256, others have less, down to `floor` and never below 1.
 * Differences wrap. */
static enum tvmr_result ops_math_softmax(struct tvmr_vm *vm, const struct tvmr_insn *in,
                                         int64_t floor, bool cap)
{
    NEED_HOT(x, in->a[1]);
    int32_t *r = ops_result(vm, x->count), m = largest_of(vm, x);
    if (!r) return TVMR_FAILED;
    int64_t sum = 0;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; MORE(i, x->count); i++) {
            int64_t d = ops_wrap32((int64_t)x->data[i] - m);
            if (cap && d > 0) d = 0;
            if (d < floor) d = floor;
            int64_t e = 256 + d > 1 ? 256 + d : 1;
            if (pass)
                r[i] = ops_wrap32(e * 255 / sum);
            else
                sum += e;
        }
    return put_like(vm, in->a[0], x);
}

HANDLER(core_softmax) { return ops_math_softmax(vm, in, -256, true); }
HANDLER(act_softmax) { return ops_math_softmax(vm, in, -1024, false); }

/* Clamps a register. An empty one is within any bounds. */
static enum tvmr_result ops_math_clamped(struct tvmr_vm *vm, const struct tvmr_insn *in,
                                         int32_t low, int32_t high)
{
    NEED_HOT(x, in->a[1]);
    if (low > high && x->count)
        return ops_fail(vm, TVMR_E_RANGE, "clamp to %d..%d", (int)low, (int)high);
    return ops_math_unary(vm, in, LOOP(clamp), low, high);
}

HANDLER(core_clamp) { return ops_math_clamped(vm, in, in->a[2], in->a[3]); }

/* Computes x + scale * weights, for as many elements as both have. */
static enum tvmr_result ops_math_bias(struct tvmr_vm *vm, uint8_t to, const struct tvmr_hot *x,
                                      const struct tvmr_cold *c, int32_t scale)
{
    int32_t *r = ops_result(vm, x->count);
    if (!r) return TVMR_FAILED;
    size_t n = min_size(x->count, c->count);
    for (PIECES(i, m, n)) LOOP(bias)(r + i, x->data + i, c->weights + i, m, scale);
    if (x->count > n) work_move(vm, r + n, x->data + n, (x->count - n) * sizeof *r);
    return put_like(vm, to, x);
}

HANDLER(add_bias)
{
    NEED_HOT(x, in->a[1]);
    NEED_COLD(c, in->a[2]);
    return ops_math_bias(vm, in->a[0], x, c, 256);
}

HANDLER(core_add)
{
    if (in->a[1] >> 6 || in->a[2] >> 6 > 1) return TVMR_NEXT;
    NEED_HOT(x, in->a[1]);
    if (in->a[2] >> 6) {
        NEED_COLD(c, in->a[2]);
        return ops_math_bias(vm, in->a[0], x, c, 255);
    }
    NEED_HOT(y, in->a[2]);
    int32_t *r = ops_result(vm, x->count);
    if (!r) return TVMR_FAILED;
    size_t n = min_size(x->count, y->count);
    for (PIECES(i, m, n)) LOOP(add)(r + i, x->data + i, y->data + i, m);
    if (x->count > n) work_move(vm, r + n, x->data + n, (x->count - n) * sizeof *r);
    return put_like(vm, in->a[0], x);
}

HANDLER(wire_skip)
{
    if (in->a[2] > 0x3f) return ops_unallocated(vm, 'H', in->a[2]);
    NEED_HOT(x, in->a[1]);
    NEED_HOT(y, in->a[2]);
    size_t n = x->count > y->count ? x->count : y->count;
    if (n && (!x->count || !y->count))
        return ops_fail(vm, TVMR_E_RANGE, "one of the operands is empty");
    int32_t *r = ops_result(vm, n);
    if (!r) return TVMR_FAILED;
    for (size_t i = 0; MORE(i, n); i++)
        r[i] = ops_clamp32((int64_t)x->data[i % x->count] + y->data[i % y->count]);
    return put_like(vm, in->a[0], x);
}

/* Computes the sum or the difference with the length of the longer operand. Missing elements are
 * 0. */
static enum tvmr_result add_padded(struct tvmr_vm *vm, uint8_t to, const struct tvmr_hot *x,
                                   const struct tvmr_hot *y, bool subtract)
{
    size_t both = min_size(x->count, y->count), n = x->count > both ? x->count : y->count;
    int32_t *r = ops_result(vm, n);
    if (!r) return TVMR_FAILED;
    for (PIECES(i, m, both)) (subtract ? LOOP(sub) : LOOP(add))(r + i, x->data + i, y->data + i, m);
    if (x->count > both)
        work_move(vm, r + both, x->data + both, (n - both) * sizeof *r);
    else if (n > both && !subtract)
        work_move(vm, r + both, y->data + both, (n - both) * sizeof *r);
    else
        for (PIECES(i, m, n - both)) LOOP(negate)(r + both + i, y->data + both + i, m, 0, 0);
    return put_like(vm, to, x);
}

HANDLER(tensor_add)
{
    if (in->a[2] >> 6 > 1) return TVMR_NEXT;
    NEED_HOT(x, in->a[1]);
    if (in->a[2] >> 6) {
        NEED_COLD(c, in->a[2]);
        return ops_math_bias(vm, in->a[0], x, c, 256);
    }
    NEED_HOT(y, in->a[2]);
    return add_padded(vm, in->a[0], x, y, false);
}

HANDLER(tensor_sub)
{
    NEED_HOT(x, in->a[1]);
    NEED_HOT(y, in->a[2]);
    return add_padded(vm, in->a[0], x, y, true);
}

BINARY(tensor_mul, tensor_mul, LIKE)
BINARY(tensor_cmp_gt, tensor_greater, LIST)
UNARY(tensor_negate, negate, 0)
UNARY(tensor_scale, scale, (int32_t)ops_imm16(in))

HANDLER(tensor_clamp)
{
    return ops_math_clamped(vm, in, (in->a[2] - 128) * 256, (in->a[3] - 128) * 256);
}

UNARY(act_sigmoid, act_sigmoid, 0)
UNARY(act_tanh, act_tanh, 0)
UNARY(act_gelu, act_gelu, 0)

HANDLER(max_reduce)
{
    NEED_HOT(x, in->a[1]);
    return put_scalar(vm, in->a[0], largest_of(vm, x));
}

HANDLER(argmax)
{
    NEED_HOT(x, in->a[1]);
    int32_t most = largest_of(vm, x);
    size_t at = x->count, seen = 0; /* `at` becomes the last one of equal elements. */
    while (at > 1 && x->data[at - 1] != most && MORE(seen, x->count)) at--, seen++;
    return put_scalar(vm, in->a[0], at ? (int32_t)(at - 1) : 0);
}

HANDLER(reduce_avg)
{
    NEED_HOT(x, in->a[1]);
    size_t start = in->a[2], end = min_size(start + in->a[3], x->count);
    uint32_t sum = 0;
    for (size_t i = start; i < end; i++) sum += (uint32_t)x->data[i];
    return put_scalar(vm, in->a[0],
                      end > start ? (int32_t)((int64_t)(int32_t)sum / (int64_t)(end - start)) : 0);
}

static int64_t sum_strided(struct tvmr_vm *vm, const struct tvmr_hot *x, size_t from, size_t stride,
                           size_t count)
{
    int64_t sum = 0;
    for (size_t i = 0; from < x->count && MORE(i, count); i++, from += stride) sum += x->data[from];
    return sum;
}

static int64_t total_of(struct tvmr_vm *vm, const struct tvmr_hot *x)
{
    int64_t sum = 0;
    for (PIECES(i, n, x->count)) sum += LOOP(total)(x->data + i, n);
    return sum;
}

HANDLER(reduce_mean_dim)
{
    NEED_HOT(x, in->a[1]);
    if (x->shape.rank < 2) {
        int64_t n = x->count ? (int64_t)x->count : 1;
        return put_scalar(vm, in->a[0], (int32_t)(total_of(vm, x) / n));
    }
    size_t rows = x->shape.dims[0], cols = x->shape.dims[1], n = in->a[2] ? rows : cols;
    int32_t *r = ops_result(vm, n);
    if (!r) return TVMR_FAILED;
    int64_t divisor = (int64_t)(in->a[2] ? cols : rows);
    for (size_t i = 0; MORE(i, n); i++) {
        int64_t sum = in->a[2] ? sum_strided(vm, x, i * cols, 1, cols)
                               : sum_strided(vm, x, i, cols ? cols : 1, rows);
        r[i] = divisor ? (int32_t)(sum / divisor) : 0;
    }
    return put_list(vm, in->a[0]);
}

HANDLER(slice)
{
    NEED_HOT(x, in->a[1]);
    size_t start = in->a[2], end = min_size(start + in->a[3], x->count);
    size_t n = end > start ? end - start : 0;
    int32_t *r = ops_result(vm, n);
    if (!r) return TVMR_FAILED;
    if (n) memcpy(r, x->data + start, n * sizeof *r);
    return put_list(vm, in->a[0]);
}

static bool ops_math_join(struct tvmr_vm *vm, const struct tvmr_hot *x, const struct tvmr_hot *y)
{
    int32_t *r = ops_result(vm, x->count + y->count);
    if (!r) return false;
    work_move(vm, r, x->data, x->count * sizeof *r);
    work_move(vm, r + x->count, y->data, y->count * sizeof *r);
    return true;
}

HANDLER(core_concat)
{
    NEED_HOT(x, in->a[1]);
    NEED_HOT(y, in->a[2]);
    return ops_math_join(vm, x, y) ? put_list(vm, in->a[0]) : TVMR_FAILED;
}

HANDLER(tensor_concat)
{
    NEED_HOT(x, in->a[1]);
    NEED_HOT(y, in->a[2]);
    if (!ops_math_join(vm, x, y)) return TVMR_FAILED;
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
    int32_t *r = ops_result(vm, n);
    if (!r) return TVMR_FAILED;
    for (size_t i = 0; MORE(i, n); i++) {
        int64_t g = ops_clamp(gate->data[i], 0, 255);
        r[i] = ops_wrap32((g * update->data[i] + (255 - g) * state->data[i]) / 255);
    }
    return put_list(vm, in->a[0]);
}

static int32_t shift_amount(const struct tvmr_insn *in)
{
    return (int32_t)((ops_imm16(in) ? ops_imm16(in) : 8) & 31);
}

HANDLER(core_dequantize) /* This instruction writes to the output buffer and does not use its
                          * destination register. */
{
    NEED_HOT(x, in->a[1]);
    int32_t *r = ops_result(vm, x->count);
    if (!r) return TVMR_FAILED;
    for (PIECES(i, n, x->count)) LOOP(shift)(r + i, x->data + i, n, shift_amount(in), 0);
    return put_output(vm, vm->scratch.data, x->count);
}

UNARY(ternary_dequantize, shift, shift_amount(in))
