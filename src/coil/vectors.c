/* Vector and matrix instructions, 80 to 8E. */
#include "coil/places.h"
#include <math.h>
#include <stdlib.h>

/* ---- vectors ---- */

static uint8_t value_flags(uint8_t type, uint64_t value)
{
    if (coil_types[type].family == COIL_F_REAL) {
        double r = coil_real(type, value);
        return (uint8_t)((r == 0 ? COIL_Z : 0) | (r < 0 ? COIL_S : 0) | (isnan(r) ? COIL_N : 0));
    }
    return (uint8_t)((value ? 0 : COIL_Z) |
                     (coil_types[type].family == COIL_F_SIGNED && (int64_t)value < 0 ? COIL_S : 0));
}

/* Lane type of a vector that may be untyped: then that of the scalar that goes in or out. */
static uint8_t element_type(const struct coil_step *s, unsigned vector, unsigned scalar)
{
    uint8_t lane = coil_lane_of(&s->places[vector]);
    return lane != COIL_T_VOID ? lane : coil_type_at(s, scalar);
}

static uint32_t run_element(struct coil_vm *vm, const struct coil_step *s)
{
    bool get = s->opcode == COIL_OP_GETE;
    unsigned vector = get ? 1 : 0, scalar = get ? 0 : 2;
    uint8_t type = element_type(s, vector, scalar), *bytes;
    uint64_t index, value, size = coil_types[type].bytes;
    TRY(coil_read_own(vm, s, get ? 2 : 1, &index));
    if (index >= s->places[vector].type->size / size) return COIL_TRAP_BOUNDS_VIOLATION;
    TRY(coil_place_bytes(vm, &s->places[vector], !get, &bytes));
    if (get) {
        value = coil_get(vm, bytes + index * size, type);
        TRY(coil_place_write(vm, &s->places[0], value, type));
        coil_flags_set(vm, value_flags(type, value), COIL_Z | COIL_S | COIL_N);
        return 0;
    }
    TRY(coil_read_as(vm, s, 2, coil_type_at(s, 2), &value));
    value = coil_convert_bits(value, coil_type_at(s, 2), type, s->places[0].ext & COIL_SATURATE);
    TRY(coil_place_bytes(vm, &s->places[0], true, &bytes));
    coil_put(vm, bytes + index * size, type, value);
    return 0;
}

static uint32_t run_dot(struct coil_vm *vm, const struct coil_step *s)
{
    uint8_t *a, *b, type = coil_lane_of(&s->places[1]), other = coil_lane_of(&s->places[2]),
                    flags = 0;
    if (type == COIL_T_VOID) type = other;
    if (other == COIL_T_VOID) other = type;
    uint64_t size = coil_types[type].bytes, lanes = s->places[1].type->size / size, sum = 0;
    TRY(coil_place_bytes(vm, &s->places[1], false, &a));
    TRY(coil_place_bytes(vm, &s->places[2], false, &b));
    for (uint64_t i = 0; i < lanes; i++) {
        uint64_t y = coil_convert_bits(coil_get(vm, b + i * coil_types[other].bytes, other), other,
                                       type, false);
        sum = coil_combine(
            COIL_OP_ADD, type, sum,
            coil_combine(COIL_OP_MUL, type, coil_get(vm, a + i * size, type), y, &flags), &flags);
    }
    TRY(coil_place_write(vm, &s->places[0], sum, type));
    coil_flags_set(vm, (uint8_t)(value_flags(type, sum) | (flags & COIL_V)),
                   COIL_Z | COIL_S | COIL_V | COIL_N);
    return 0;
}

static uint32_t run_cross(struct coil_vm *vm, const struct coil_step *s)
{
    uint8_t *a, *b, type = coil_lane_of(&s->places[1]), ignored = 0;
    uint64_t size = coil_types[type].bytes, x[3], y[3], z[3];
    bool zero = true;
    TRY(coil_place_bytes(vm, &s->places[1], false, &a));
    TRY(coil_place_bytes(vm, &s->places[2], false, &b));
    for (unsigned i = 0; i < 3; i++) {
        x[i] = coil_get(vm, a + i * size, type);
        y[i] = coil_get(vm, b + i * size, type);
    }
    for (unsigned i = 0; i < 3; i++) {
        unsigned j = (i + 1) % 3, k = (i + 2) % 3;
        z[i] =
            coil_combine(COIL_OP_SUB, type, coil_combine(COIL_OP_MUL, type, x[j], y[k], &ignored),
                         coil_combine(COIL_OP_MUL, type, x[k], y[j], &ignored), &ignored);
        zero &= (value_flags(type, z[i]) & COIL_Z) != 0;
    }
    uint8_t lane = coil_lane_of(&s->places[0]), *out;
    TRY(coil_place_bytes(vm, &s->places[0], true, &out));
    for (unsigned i = 0; i < 3; i++)
        coil_put(vm, out + i * coil_types[lane].bytes, lane,
                 coil_convert_bits(z[i], type, lane, false));
    coil_flags_set(vm, zero ? COIL_Z : 0, COIL_Z);
    return 0;
}

static double as_double(uint8_t type, uint64_t value)
{
    return coil_real(COIL_T_FP64, coil_convert_bits(value, type, COIL_T_FP64, false));
}

static uint32_t run_length(struct coil_vm *vm, const struct coil_step *s)
{
    bool norm = s->opcode == COIL_OP_NORM;
    const struct coil_place *from = &s->places[s->count - 1];
    uint8_t *a, *out, type = coil_lane_of(from);
    uint64_t size = coil_types[type].bytes, lanes = from->type->size / size;
    double sum = 0;
    TRY(coil_place_bytes(vm, from, false, &a));
    for (uint64_t i = 0; i < lanes; i++) {
        double v = as_double(type, coil_get(vm, a + i * size, type));
        sum += v * v;
    }
    double length = sqrt(sum);
    if (!norm) {
        uint64_t bits = coil_real_bits(COIL_T_FP64, length);
        if (type == COIL_T_FP32)
            bits = coil_convert_bits(coil_convert_bits(bits, COIL_T_FP64, COIL_T_FP32, false),
                                     COIL_T_FP32, COIL_T_FP64, false);
        TRY(coil_place_write(vm, &s->places[0], bits, COIL_T_FP64));
        coil_flags_set(vm, length == 0 ? COIL_Z : 0, COIL_Z | COIL_S);
        return 0;
    }
    uint8_t lane = coil_lane_of(&s->places[0]);
    TRY(coil_place_bytes(vm, &s->places[0], true, &out));
    for (uint64_t i = 0; i < lanes; i++) {
        double v = as_double(type, coil_get(vm, a + i * size, type));
        uint64_t bits = coil_real_bits(COIL_T_FP64, length == 0 ? v : v / length);
        coil_put(vm, out + i * coil_types[lane].bytes, lane,
                 coil_convert_bits(bits, COIL_T_FP64, lane, false));
    }
    coil_flags_set(vm,
                   (uint8_t)((length == 0 ? COIL_Z | COIL_D : 0) | (isnan(length) ? COIL_N : 0)),
                   COIL_Z | COIL_D | COIL_N);
    return 0;
}

static uint32_t run_shuffle(struct coil_vm *vm, const struct coil_step *s)
{
    uint8_t *v, *mask, type = coil_lane_of(&s->places[1]), mask_type = coil_lane_of(&s->places[2]),
                       lane = coil_lane_of(&s->places[0]);
    if (type == COIL_T_VOID) type = lane;
    if (mask_type == COIL_T_VOID) mask_type = type;
    if (lane == COIL_T_VOID) lane = type;
    uint64_t lanes = s->places[0].type->size / coil_types[lane].bytes,
             have = s->places[1].type->size / coil_types[type].bytes;
    TRY(coil_place_bytes(vm, &s->places[1], false, &v));
    TRY(coil_place_bytes(vm, &s->places[2], false, &mask));
    uint8_t *copy = malloc((size_t)s->places[0].type->size + 1);
    if (!copy) return COIL_TRAP_OUT_OF_MEMORY;
    for (uint64_t i = 0; i < lanes; i++) {
        uint64_t from = coil_get(vm, mask + i * coil_types[mask_type].bytes, mask_type);
        if (from >= have) {
            free(copy);
            return COIL_TRAP_BOUNDS_VIOLATION;
        }
        coil_put(vm, copy + i * coil_types[lane].bytes, lane,
                 coil_convert_bits(coil_get(vm, v + from * coil_types[type].bytes, type), type,
                                   lane, false));
    }
    return coil_deliver(vm, &s->places[0], copy);
}

/* EXTRACT and INSERT: a run of lanes from one vector to another. */
static uint32_t run_lanes_copy(struct coil_vm *vm, const struct coil_step *s)
{
    uint8_t *from, *to, lane = coil_lane_of(&s->places[0]), type = coil_lane_of(&s->places[1]);
    if (lane == COIL_T_VOID) lane = type;
    if (type == COIL_T_VOID) type = lane;
    if (lane == COIL_T_VOID) lane = type = COIL_T_UNT8;
    uint64_t start, length, have = s->places[1].type->size / coil_types[type].bytes,
                            room = s->places[0].type->size / coil_types[lane].bytes;
    TRY(coil_read_own(vm, s, 2, &start));
    TRY(coil_read_own(vm, s, 3, &length));
    bool extract = s->opcode == COIL_OP_EXTRACT;
    uint64_t limit_from = extract ? have : room, limit_to = extract ? room : have;
    if (start > limit_from || length > limit_from - start || length > limit_to)
        return COIL_TRAP_BOUNDS_VIOLATION;
    TRY(coil_place_bytes(vm, &s->places[1], false, &from));
    TRY(coil_place_bytes(vm, &s->places[0], true, &to));
    for (uint64_t i = 0; i < length; i++) {
        uint64_t source = extract ? start + i : i, target = extract ? i : start + i;
        uint64_t value = coil_get(vm, from + source * coil_types[type].bytes, type);
        coil_put(vm, to + target * coil_types[lane].bytes, lane,
                 coil_convert_bits(value, type, lane, s->places[0].ext & COIL_SATURATE));
    }
    return 0;
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
        for (unsigned k = 0; k < columns; k++)
            coil_set_element(vm, d, copy, k, i,
                             coil_convert_bits(coil_element(vm, t, bytes, i, k), t->elem->op,
                                               d->elem->op, false));
    return coil_deliver(vm, &s->places[0], copy);
}

/* Gauss with partial pivoting over doubles. inverse may be NULL: only the determinant. */
static double eliminate(double *a, double *inverse, unsigned n)
{
    double determinant = 1;
    for (unsigned c = 0; c < n; c++) {
        unsigned pivot = c;
        for (unsigned r = c + 1; r < n; r++)
            if (fabs(a[r * n + c]) > fabs(a[pivot * n + c])) pivot = r;
        if (a[pivot * n + c] == 0) return 0;
        for (unsigned k = 0; k < n && pivot != c; k++) {
            double x = a[c * n + k];
            a[c * n + k] = a[pivot * n + k];
            a[pivot * n + k] = x;
            if (!inverse) continue;
            x = inverse[c * n + k];
            inverse[c * n + k] = inverse[pivot * n + k];
            inverse[pivot * n + k] = x;
        }
        if (pivot != c) determinant = -determinant;
        double d = a[c * n + c];
        determinant *= d;
        for (unsigned r = inverse ? 0 : c + 1; r < n; r++) {
            if (r == c) continue;
            double f = a[r * n + c] / d;
            if (f == 0) continue;
            for (unsigned k = 0; k < n; k++) {
                a[r * n + k] -= f * a[c * n + k];
                if (inverse) inverse[r * n + k] -= f * inverse[c * n + k];
            }
        }
        for (unsigned k = 0; inverse && k < n; k++) {
            a[c * n + k] /= d;
            inverse[c * n + k] /= d;
        }
    }
    return determinant;
}

static uint32_t run_solve(struct coil_vm *vm, const struct coil_step *s)
{
    bool inv = s->opcode == COIL_OP_INV;
    const struct coil_place *from = &s->places[s->count - 1];
    const struct coil_type *t = from->type, *d = s->places[0].type;
    uint8_t *bytes;
    unsigned n, columns;
    coil_matrix_shape(t, &n, &columns);
    TRY(coil_place_bytes(vm, from, false, &bytes));
    double *a = calloc((size_t)n * n * 2, sizeof *a), *inverse = a + (size_t)n * n;
    if (!a) return COIL_TRAP_OUT_OF_MEMORY;
    for (unsigned i = 0; i < n; i++)
        for (unsigned k = 0; k < n; k++) {
            a[i * n + k] = as_double(t->elem->op, coil_element(vm, t, bytes, i, k));
            inverse[i * n + k] = i == k;
        }
    double determinant = eliminate(a, inv ? inverse : NULL, n);
    uint32_t trap = 0;
    if (!inv) {
        bool whole = coil_is_int(t->elem->op);
        uint64_t bits = coil_real_bits(COIL_T_FP64, whole ? nearbyint(determinant) : determinant);
        trap = coil_place_write(vm, &s->places[0], bits, COIL_T_FP64);
        if (!trap) coil_flags_set(vm, value_flags(COIL_T_FP64, bits), COIL_Z | COIL_S);
    } else if (determinant == 0) {
        coil_flags_set(vm, COIL_Z | COIL_D, COIL_Z | COIL_D);
    } else {
        trap = coil_place_bytes(vm, &s->places[0], true, &bytes);
        for (unsigned i = 0; !trap && i < n; i++)
            for (unsigned k = 0; k < n; k++)
                coil_set_element(vm, d, bytes, i, k,
                                 coil_convert_bits(coil_real_bits(COIL_T_FP64, inverse[i * n + k]),
                                                   COIL_T_FP64, d->elem->op, false));
        if (!trap) coil_flags_set(vm, 0, COIL_Z | COIL_D);
    }
    free(a);
    return trap;
}

/* ROW, COL, DIAG: a line of a matrix, read or written. */
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
            coil_set_element(
                vm, t, m, row, column,
                coil_convert_bits(coil_get(vm, at, lane), lane, type, matrix->ext & COIL_SATURATE));
        else
            coil_put(vm, at, lane,
                     coil_convert_bits(coil_element(vm, t, m, row, column), type, lane,
                                       vector->ext & COIL_SATURATE));
    }
    return 0;
}

uint32_t coil_run_vector(struct coil_vm *vm, const struct coil_step *s)
{
    switch (s->opcode) {
    case COIL_OP_GETE:
    case COIL_OP_SETE: return run_element(vm, s);
    case COIL_OP_DOT: return run_dot(vm, s);
    case COIL_OP_CROSS: return run_cross(vm, s);
    case COIL_OP_NORM:
    case COIL_OP_LEN: return run_length(vm, s);
    case COIL_OP_SHUF: return run_shuffle(vm, s);
    case COIL_OP_EXTRACT:
    case COIL_OP_INSERT: return run_lanes_copy(vm, s);
    case COIL_OP_TRANS: return run_transpose(vm, s);
    case COIL_OP_INV:
    case COIL_OP_DET: return run_solve(vm, s);
    default: return run_line(vm, s);
    }
}
