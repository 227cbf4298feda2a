/* Has the handlers for products of matrices and changes of shape (TVMR 7.10). Under the profile
 * ternsig, MATMUL fails and the others copy. */
#include "tvmr/kernels/elements.h"
#include "tvmr/vm/ops.h"

static bool ops_shape_whole(const struct tvmr_shape *s, size_t count)
{
    uint64_t product = 1;
    for (unsigned i = 0; i < s->rank; i++) {
        product *= s->dims[i];
        if (product > UINT32_MAX) return false; /* No register holds so many elements. */
    }
    return product == count;
}

/* Begins an instruction that changes a shape: checks the profile, finds the source, and copies
 * its dimensions with room for one more. Returns NULL when the instruction has ended, as *result
 * says. */
static const struct tvmr_hot *ops_shape_source(struct tvmr_vm *vm, const struct tvmr_insn *in,
                                               uint32_t **dims, enum tvmr_result *result)
{
    const struct tvmr_hot *from = hot_at(vm, in->a[1]);
    if (vm->profile == TVMR_PROFILE_TERNSIG) {
        *result = from ? put_copy(vm, in->a[0], from) : TVMR_NEXT;
        return NULL;
    }
    if (!from) {
        *result = ops_unallocated(vm, 'H', in->a[1]);
        return NULL;
    }
    *dims = (uint32_t *)(void *)ops_auxiliary(vm, 0, from->shape.rank + 1);
    if (!*dims) {
        *result = TVMR_FAILED;
        return NULL;
    }
    if (from->shape.rank) memcpy(*dims, from->shape.dims, from->shape.rank * sizeof **dims);
    return from;
}

static enum tvmr_result no_dimension(struct tvmr_vm *vm, unsigned dim, const struct tvmr_hot *h)
{
    return ops_fail(vm, TVMR_E_SHAPE, "no dimension %u in a tensor of rank %u", dim,
                    (unsigned)h->shape.rank);
}

static enum tvmr_result ops_shape_reshaped(struct tvmr_vm *vm, const struct tvmr_insn *in,
                                           const struct tvmr_hot *from, const uint32_t *dims,
                                           size_t rank)
{
    int32_t *r = ops_result(vm, from->count);
    if (!r) return TVMR_FAILED;
    work_move(vm, r, from->data, from->count * sizeof *r);
    return ops_put(vm, in->a[0], dims, rank);
}

/* Removes a dimension of size 1, or adds one. */
static enum tvmr_result change_rank(struct tvmr_vm *vm, const struct tvmr_insn *in, bool more)
{
    uint32_t *dims;
    enum tvmr_result done;
    const struct tvmr_hot *from = ops_shape_source(vm, in, &dims, &done);
    unsigned dim = in->a[2];
    if (!from) return done;
    size_t rank = from->shape.rank;
    if (dim >= rank + more) return no_dimension(vm, dim, from);
    if (more) {
        memmove(dims + dim + 1, dims + dim, (rank - dim) * sizeof *dims);
        dims[dim] = 1;
        return ops_shape_reshaped(vm, in, from, dims, rank + 1);
    }
    if (dims[dim] != 1)
        return ops_fail(vm, TVMR_E_SHAPE, "dimension %u is %u, not 1", dim, (unsigned)dims[dim]);
    memmove(dims + dim, dims + dim + 1, (rank - dim - 1) * sizeof *dims);
    return ops_shape_reshaped(vm, in, from, dims, rank - 1);
}

HANDLER(squeeze) { return change_rank(vm, in, false); }
HANDLER(unsqueeze) { return change_rank(vm, in, true); }

/* Swaps two dimensions: a tensor [outer, a, between, b, inner] becomes [outer, b, between, a, inner]. */
static enum tvmr_result ops_shape_swap(struct tvmr_vm *vm, const struct tvmr_insn *in, unsigned x,
                                       unsigned y)
{
    uint32_t *dims;
    enum tvmr_result done;
    const struct tvmr_hot *from = ops_shape_source(vm, in, &dims, &done);
    if (!from) return done;
    unsigned low = x < y ? x : y, high = x < y ? y : x;
    size_t rank = from->shape.rank, outer = 1, between = 1, inner = 1, at = 0;
    if (high >= rank) return no_dimension(vm, high, from);
    if (!ops_shape_whole(&from->shape, from->count))
        return ops_fail(vm, TVMR_E_SHAPE, "%zu elements do not fit the dimensions", from->count);
    size_t a = dims[low], b = dims[high];
    dims[low] = (uint32_t)b;
    dims[high] = (uint32_t)a;
    int32_t *r = ops_result(vm, from->count);
    if (!r) return TVMR_FAILED;
    for (unsigned i = 0; i < rank && from->count; i++)
        *(i < low ? &outer : i > high ? &inner : &between) *= i == low || i == high ? 1 : dims[i];
    if (low == high) b = 1;
    for (size_t o = 0; o < outer && from->count; o++)
        for (size_t j = 0; j < b; j++)
            for (size_t m = 0; m < between; m++)
                for (size_t i = 0; i < a; i++, at += inner)
                    if (!work_move(vm, r + at,
                                   from->data + (((o * a + i) * between + m) * b + j) * inner,
                                   inner * sizeof *r))
                        return TVMR_NEXT;
    return ops_put(vm, in->a[0], dims, rank);
}

HANDLER(transpose) { return ops_shape_swap(vm, in, in->a[2], in->a[3]); }

HANDLER(tensor_transpose)
{
    return in->a[2] || in->a[3] ? ops_shape_swap(vm, in, in->a[2], in->a[3])
                                : ops_shape_swap(vm, in, 0, 1);
}

/* A factor of a matrix product, as rows of `inner` elements. */
struct factor {
    const int32_t *data;
    size_t rows, inner;
    int64_t most; /* the largest absolute value of an element */
    bool list;    /* The factor has one dimension and gives the result none. */
};

/* Finds the elements and the shape of a hot or cold register. Returns false when the instruction
 * has failed. */
static bool ops_shape_take(struct tvmr_vm *vm, uint8_t reg, unsigned which, const int32_t **data,
                           size_t *count, const struct tvmr_shape **shape)
{
    const struct tvmr_hot *h = reg >> 6 == 0 ? hot_at(vm, reg) : NULL;
    const struct tvmr_cold *c = reg >> 6 == 1 ? cold_at(vm, reg) : NULL;
    if (reg >> 6 > 1) {
        ops_fail(vm, TVMR_E_BANK, "a product takes hot and cold registers");
        return false;
    }
    if (!h && !c) {
        ops_unallocated(vm, reg >> 6 ? 'C' : 'H', reg);
        return false;
    }
    *count = h ? h->count : c->count;
    *shape = h ? &h->shape : &c->shape;
    if (!ops_shape_whole(*shape, *count) || ((*shape)->rank != 1 && (*shape)->rank != 2)) {
        ops_fail(vm, TVMR_E_SHAPE, "a product takes whole matrices and vectors");
        return false;
    }
    if (h) {
        *data = h->data;
        return true;
    }
    int32_t *values = ops_auxiliary(vm, which, c->count);
    for (size_t i = 0; values && MORE(i, c->count); i++) values[i] = tvmr_value(c->weights[i]);
    *data = values;
    return values != NULL;
}

static int64_t ops_shape_largest(struct tvmr_vm *vm, const int32_t *data, size_t count)
{
    int64_t most = 0;
    for (size_t i = 0; MORE(i, count); i++) {
        int64_t v = ops_absolute(data[i]);
        most = v > most ? v : most;
    }
    return most;
}

static bool left_factor(struct tvmr_vm *vm, uint8_t reg, struct factor *f)
{
    size_t count;
    const struct tvmr_shape *s;
    if (!ops_shape_take(vm, reg, 0, &f->data, &count, &s)) return false;
    f->list = s->rank == 1;
    f->rows = f->list ? 1 : s->dims[0];
    f->inner = s->dims[s->rank - 1];
    f->most = ops_shape_largest(vm, f->data, count);
    return true;
}

/* Reads the right factor by columns, so that each element of the product is a dot product of two
 * rows. */
static bool right_factor(struct tvmr_vm *vm, uint8_t reg, struct factor *f)
{
    size_t count;
    const struct tvmr_shape *s;
    const int32_t *data;
    if (!ops_shape_take(vm, reg, 1, &data, &count, &s)) return false;
    f->list = s->rank == 1;
    f->rows = f->list ? 1 : s->dims[1];
    f->inner = s->dims[0];
    f->most = ops_shape_largest(vm, data, count);
    f->data = data;
    if (f->list || f->rows == 1) return true;
    int32_t *turned = ops_auxiliary(vm, 2, count);
    for (size_t i = 0; turned && i < f->inner && may_work(vm, 1); i++)
        for (size_t j = 0; MORE(j, f->rows); j++) turned[j * f->inner + i] = data[i * f->rows + j];
    f->data = turned;
    return turned != NULL;
}

/* Computes a dot product that is exact for any elements, because the upper and lower halves of
 * the terms are summed separately. */
static int32_t wide_dot(struct tvmr_vm *vm, const int32_t *x, const int32_t *y, size_t n)
{
    int64_t high = 0, low = 0;
    for (size_t i = 0; MORE(i, n); i++) {
        int64_t term = (int64_t)x[i] * y[i];
        high += term >> 32;
        low += term & UINT32_MAX;
    }
    high += low >> 32;
    low &= UINT32_MAX;
    if (high > 0 || high < -1) return high > 0 ? INT32_MAX : INT32_MIN;
    return ops_clamp32(high * (INT64_C(1) << 32) + low);
}

/* Computes an element of the product in pieces. It is used when the sum of the fast loop does not wrap. */
static int32_t ops_shape_dot(struct tvmr_vm *vm, const int32_t *x, const int32_t *y, size_t count)
{
    int64_t sum = 0;
    for (PIECES(i, n, count)) sum += tvmr_elements[vm->kernels]->dot(x + i, y + i, n);
    return ops_clamp32(sum);
}

static enum tvmr_result matrix_product(struct tvmr_vm *vm, const struct tvmr_insn *in)
{
    struct factor a, b;
    if (!left_factor(vm, in->a[1], &a) || !right_factor(vm, in->a[2], &b)) return TVMR_FAILED;
    if (a.inner != b.inner)
        return ops_fail(vm, TVMR_E_SHAPE, "rows of %zu elements times columns of %zu", a.inner,
                        b.inner);
    int32_t *r = ops_result(vm, a.rows * b.rows);
    if (!r) return TVMR_FAILED;
    /* The fast loop cannot wrap when the bound of the sum, most * most * inner, fits 64 bits. */
    bool fits = !a.most || !b.most || !a.inner ||
                (uint64_t)a.most * (uint64_t)b.most <= INT64_MAX / a.inner;
    for (size_t i = 0; i < a.rows && may_work(vm, 1); i++)
        for (size_t j = 0; MORE(j, b.rows); j++) {
            const int32_t *x = a.data + i * a.inner, *y = b.data + j * b.inner;
            r[i * b.rows + j] =
                fits ? ops_shape_dot(vm, x, y, a.inner) : wide_dot(vm, x, y, a.inner);
        }
    uint32_t dims[2];
    size_t rank = 0;
    if (!a.list) dims[rank++] = (uint32_t)a.rows;
    if (!b.list) dims[rank++] = (uint32_t)b.rows;
    if (!rank) dims[rank++] = 1;
    return ops_put(vm, in->a[0], dims, rank);
}

HANDLER(matrix_product)
{
    if (vm->profile == TVMR_PROFILE_TERNSIG)
        return ops_fail(vm, TVMR_E_UNIMPL, "%s is defined but does nothing", in->op->name);
    return matrix_product(vm, in);
}

HANDLER(core_matrix_product)
{
    if (vm->profile == TVMR_PROFILE_TERNSIG) return op_unknown_opcode(vm, in);
    if (in->a[1] == TVMR_NULL || in->a[2] == TVMR_NULL) return TVMR_NEXT;
    return matrix_product(vm, in);
}
