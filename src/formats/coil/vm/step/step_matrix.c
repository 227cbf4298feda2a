/* Executes the matrix instructions (opcodes 89 to 8E), and MUL of matrices.
 * kernels/exact_matrix.c computes inverses and determinants of integers. */
#include "coil/kernels/exact_matrix.h"
#include "coil/vm/step/step.h"
#include <math.h>
#include <stdlib.h>

static uint64_t step_matrix_element(const struct coil_vm *vm, const struct coil_type *t,
                                    const uint8_t *bytes, unsigned row, unsigned column)
{
    unsigned rows, columns;
    coil_matrix_shape(t, &rows, &columns);
    if (t->op == COIL_T_DIAGMAT)
        return row == column ? coil_get(vm, bytes + row * t->elem->size, t->elem->op) : 0;
    return coil_get(vm, bytes + ((uint64_t)row * columns + column) * t->elem->size, t->elem->op);
}

static void set_element(const struct coil_vm *vm, const struct coil_type *t, uint8_t *bytes,
                        unsigned row, unsigned column, uint64_t value)
{
    unsigned rows, columns;
    coil_matrix_shape(t, &rows, &columns);
    if (t->op == COIL_T_DIAGMAT) {
        if (row == column) coil_put(vm, bytes + row * t->elem->size, t->elem->op, value);
        return;
    }
    coil_put(vm, bytes + ((uint64_t)row * columns + column) * t->elem->size, t->elem->op, value);
}

uint32_t coil_run_product(struct coil_vm *vm, const struct coil_step *s, unsigned left,
                          unsigned right)
{
    const struct coil_type *ta = s->places[left].type, *tb = s->places[right].type,
                           *td = s->places[0].type;
    uint8_t *a, *b, flags = 0, type = ta->elem->op, first = 0;
    unsigned rows, inner, ignored, columns;
    coil_matrix_shape(ta, &rows, &inner);
    coil_matrix_shape(tb, &ignored, &columns);
    TRY(coil_place_bytes(vm, &s->places[left], false, &a));
    TRY(coil_place_bytes(vm, &s->places[right], false, &b));
    uint8_t *copy = calloc(1, (size_t)td->size + 1);
    if (!copy) return COIL_TRAP_OUT_OF_MEMORY;
    bool zero = true;
    for (unsigned i = 0; i < rows; i++)
        for (unsigned k = 0; k < columns; k++) {
            uint64_t sum = 0;
            for (unsigned j = 0; j < inner; j++) {
                if (coil_work_at(vm, j, inner)) {
                    free(copy);
                    return COIL_PAUSE;
                }
                uint64_t value = coil_convert_bits(step_matrix_element(vm, tb, b, j, k),
                                                   tb->elem->op, type, false);
                sum =
                    coil_combine(COIL_OP_ADD, type, sum,
                                 coil_combine(COIL_OP_MUL, type,
                                              step_matrix_element(vm, ta, a, i, j), value, &flags),
                                 &flags);
            }
            bool null = coil_types[type].family == COIL_F_REAL ? coil_real(type, sum) == 0 : !sum;
            zero &= null;
            if (!i && !k)
                first = coil_types[type].family == COIL_F_REAL
                            ? coil_real(type, sum) < 0
                            : coil_types[type].family == COIL_F_SIGNED && (int64_t)sum < 0;
            set_element(
                vm, td, copy, i, k,
                coil_convert_bits(sum, type, td->elem->op, s->places[0].ext & COIL_SATURATE));
        }
    uint32_t trap = coil_place_bytes(vm, &s->places[0], true, &a);
    if (trap) {
        free(copy);
        return trap;
    }
    flags |= (uint8_t)((zero ? COIL_Z : 0) | (first ? COIL_S : 0));
    coil_flags_set(vm, s->opcode, flags, COIL_P | (coil_is_int(type) ? 0 : COIL_C));
    return coil_deliver(vm, &s->places[0], copy, td->size);
}

static uint32_t run_transpose(struct coil_vm *vm, const struct coil_step *s)
{
    const struct coil_place *from = &s->places[s->count - 1];
    const struct coil_type *t = from->type, *d = s->places[0].type;
    uint8_t *bytes;
    unsigned rows, columns;
    coil_matrix_shape(t, &rows, &columns);
    TRY(coil_place_bytes(vm, from, false, &bytes));
    uint8_t *copy = calloc(1, (size_t)d->size + 1);
    if (!copy) return COIL_TRAP_OUT_OF_MEMORY;
    for (unsigned i = 0; i < rows; i++)
        for (unsigned k = 0; k < columns; k++) {
            if (coil_work_at(vm, k, columns)) {
                free(copy);
                return COIL_PAUSE;
            }
            set_element(vm, d, copy, k, i,
                        coil_convert_bits(step_matrix_element(vm, t, bytes, i, k), t->elem->op,
                                          d->elem->op, false));
        }
    return coil_deliver(vm, &s->places[0], copy, d->size);
}

/* Returns the elements of a matrix row by row, in the 64-bit form of ops.h. */
static uint64_t *elements_of(const struct coil_vm *vm, const struct coil_type *t,
                             const uint8_t *bytes, unsigned n)
{
    uint64_t *all = calloc((size_t)n * n, sizeof *all);
    for (unsigned i = 0; all && i < n; i++)
        for (unsigned k = 0; k < n; k++)
            all[(size_t)i * n + k] = step_matrix_element(vm, t, bytes, i, k);
    return all;
}

static void swap_rows(double *a, unsigned n, unsigned x, unsigned y)
{
    for (unsigned k = 0; k < n; k++) {
        double kept = a[(size_t)x * n + k];
        a[(size_t)x * n + k] = a[(size_t)y * n + k];
        a[(size_t)y * n + k] = kept;
    }
}

/* Does Gauss elimination with partial pivoting over doubles. Returns false if the matrix is
 * singular, or if the machine was interrupted, which sets *trap. `inverse` may be NULL if only
 * the determinant is needed. */
static bool step_matrix_eliminate(struct coil_vm *vm, double *a, double *inverse, unsigned n,
                                  double *determinant, uint32_t *trap)
{
    *determinant = 1;
    for (unsigned c = 0; c < n; c++) {
        *trap = coil_work(vm, n);
        if (*trap) return false;
        unsigned pivot = c;
        for (unsigned r = c + 1; r < n; r++)
            if (fabs(a[(size_t)r * n + c]) > fabs(a[(size_t)pivot * n + c])) pivot = r;
        double *top = a + (size_t)c * n, *top_inverse = inverse ? inverse + (size_t)c * n : NULL;
        if (pivot != c) {
            swap_rows(a, n, pivot, c);
            if (inverse) swap_rows(inverse, n, pivot, c);
            *determinant = -*determinant;
        }
        double d = top[c];
        *determinant *= d;
        if (d == 0) return false;
        for (unsigned r = inverse ? 0 : c + 1; r < n; r++) {
            double *row = a + (size_t)r * n, f = row[c] / d;
            if (r == c || f == 0) continue;
            *trap = coil_work(vm, n / 16 + 1);
            if (*trap) return false;
            for (unsigned k = 0; k < n; k++) {
                row[k] -= f * top[k];
                if (inverse) inverse[(size_t)r * n + k] -= f * top_inverse[k];
            }
        }
        for (unsigned k = 0; inverse && k < n; k++) {
            top[k] /= d;
            top_inverse[k] /= d;
        }
    }
    return true;
}

/* Replaces the elements by those of the inverse, or the first element by the determinant.
 * Returns false if the matrix is singular. */
static bool solve_reals(struct coil_vm *vm, uint64_t *all, unsigned n, uint8_t type, bool invert,
                        uint32_t *trap)
{
    size_t count = (size_t)n * n;
    double *a = calloc(count * 2, sizeof *a), *inverse = a + count, determinant;
    if (!a) {
        *trap = COIL_TRAP_OUT_OF_MEMORY;
        return false;
    }
    for (size_t i = 0; i < count; i++) a[i] = coil_real(type, all[i]);
    for (unsigned i = 0; i < n; i++) inverse[(size_t)i * n + i] = 1;
    bool regular = step_matrix_eliminate(vm, a, invert ? inverse : NULL, n, &determinant, trap);
    for (size_t i = 0; i < count && invert; i++) all[i] = coil_real_bits(type, inverse[i]);
    if (!invert) all[0] = coil_real_bits(type, determinant);
    free(a);
    return regular;
}

static bool solve_integers(struct coil_vm *vm, uint64_t *all, unsigned n, uint8_t type, bool invert,
                           uint32_t *trap)
{
    struct coil_exact_poll poll = {&vm->base.poll, &vm->base.interrupt};
    if (!invert) {
        uint64_t determinant = 0;
        if (coil_exact_determinant(all, n, poll, &determinant) == COIL_EXACT_INTERRUPTED)
            *trap = COIL_PAUSE;
        all[0] = coil_canon(type, determinant);
        return true;
    }
    uint64_t *inverse = calloc((size_t)n * n, sizeof *inverse);
    bool is_unsigned = coil_types[type].family != COIL_F_SIGNED;
    enum coil_exact done =
        inverse ? coil_exact_inverse(all, n, is_unsigned, poll, inverse) : COIL_EXACT_NO_MEMORY;
    if (done == COIL_EXACT_INTERRUPTED) *trap = COIL_PAUSE;
    if (done == COIL_EXACT_NO_MEMORY) *trap = COIL_TRAP_OUT_OF_MEMORY;
    for (size_t i = 0; done == COIL_EXACT_DONE && i < (size_t)n * n; i++)
        all[i] = coil_canon(type, inverse[i]);
    free(inverse);
    return done == COIL_EXACT_DONE;
}

static uint32_t run_solve(struct coil_vm *vm, const struct coil_step *s)
{
    enum { ROWS_MAX = 256 }; /* With this limit one instruction takes less than a second. */
    bool invert = s->opcode == COIL_OP_INV;
    const struct coil_place *from = &s->places[s->count - 1], *to = &s->places[0];
    uint8_t type = from->type->elem->op, *bytes;
    bool whole = coil_types[type].family != COIL_F_REAL;
    unsigned n, columns;
    uint32_t trap = 0;
    coil_matrix_shape(from->type, &n, &columns);
    if (n > (whole && invert ? (unsigned)COIL_EXACT_ROWS : ROWS_MAX)) return COIL_TRAP_UNSUPPORTED;
    TRY(coil_place_bytes(vm, from, false, &bytes));
    /* This is the work for copying elements in and out. */
    for (unsigned i = 0; i < n; i++) TRY(coil_work(vm, n));
    uint64_t *all = elements_of(vm, from->type, bytes, n);
    if (!all) return COIL_TRAP_OUT_OF_MEMORY;
    bool regular = (whole ? solve_integers : solve_reals)(vm, all, n, type, invert, &trap);
    if (!trap && !invert) {
        trap = coil_place_write(vm, to, all[0], type);
        if (!trap) coil_flags_set(vm, s->opcode, coil_value_flags(type, all[0]), 0);
    } else if (!trap && regular) {
        trap = coil_place_bytes(vm, to, true, &bytes);
        for (unsigned i = 0; !trap && i < n; i++)
            for (unsigned k = 0; k < n; k++)
                set_element(vm, to->type, bytes, i, k,
                            coil_convert_bits(all[(size_t)i * n + k], type, to->type->elem->op,
                                              to->ext & COIL_SATURATE));
        if (!trap) coil_flags_set(vm, s->opcode, 0, 0);
    } else if (!trap) {
        /* The destination register or memory keeps its value. */
        coil_flags_set(vm, s->opcode, COIL_Z | COIL_D, 0);
    }
    free(all);
    return trap;
}

/* Executes ROW, COL and DIAG, which read or write a line of a matrix. */
static uint32_t run_line(struct coil_vm *vm, const struct coil_step *s)
{
    bool set = s->form[0] == 'm';
    const struct coil_place *matrix = &s->places[set ? 0 : 1], *vector = &s->places[set ? 2 : 0];
    const struct coil_type *t = matrix->type;
    uint8_t *m, *v, lane = coil_lane_of(vector), type = t->elem->op;
    unsigned rows, columns;
    uint64_t index;
    coil_matrix_shape(t, &rows, &columns);
    if (lane == COIL_T_VOID) lane = type;
    TRY(coil_read_own(vm, s, set ? 1 : 2, &index));
    TRY(coil_place_bytes(vm, matrix, set, &m));
    TRY(coil_place_bytes(vm, vector, !set, &v));
    uint64_t lanes = vector->type->size / coil_types[lane].bytes;
    int64_t shift = (int64_t)index;
    uint64_t length = s->opcode == COIL_OP_ROW ? columns : rows;
    if (s->opcode == COIL_OP_DIAG) {
        if (shift >= (int64_t)columns || -shift >= (int64_t)rows) return COIL_TRAP_BOUNDS_VIOLATION;
        uint64_t down = shift < 0 ? (uint64_t)-shift : 0, right = shift > 0 ? (uint64_t)shift : 0;
        length = rows - down < columns - right ? rows - down : columns - right;
    } else if (index >= (s->opcode == COIL_OP_ROW ? rows : columns)) {
        return COIL_TRAP_BOUNDS_VIOLATION;
    }
    /* A line has at most 65,535 elements, so it is written without the possibility of an
     * interrupt. */
    TRY(coil_work(vm, (length < lanes ? length : lanes) / 2));
    for (uint64_t i = 0; i < length && i < lanes; i++) {
        unsigned row =
            (unsigned)(s->opcode == COIL_OP_ROW   ? index
                       : s->opcode == COIL_OP_COL ? i
                                                  : i + (shift < 0 ? (uint64_t)-shift : 0));
        unsigned column =
            (unsigned)(s->opcode == COIL_OP_ROW   ? i
                       : s->opcode == COIL_OP_COL ? index
                                                  : i + (shift > 0 ? (uint64_t)shift : 0));
        uint8_t *at = v + i * coil_types[lane].bytes;
        if (set)
            set_element(
                vm, t, m, row, column,
                coil_convert_bits(coil_get(vm, at, lane), lane, type, matrix->ext & COIL_SATURATE));
        else
            coil_put(vm, at, lane,
                     coil_convert_bits(step_matrix_element(vm, t, m, row, column), type, lane,
                                       vector->ext & COIL_SATURATE));
    }
    return 0;
}

uint32_t coil_run_matrix(struct coil_vm *vm, const struct coil_step *s)
{
    switch (s->opcode) {
    case COIL_OP_TRANS: return run_transpose(vm, s);
    case COIL_OP_INV:
    case COIL_OP_DET: return run_solve(vm, s);
    default: return run_line(vm, s);
    }
}
