/* Executes the vector instructions (opcodes 80 to 88), and passes the matrix instructions to
 * step_matrix.c. */
#include "coil/vm/step/step.h"
#include <math.h>
#include <stdlib.h>

uint8_t coil_value_flags(uint8_t type, uint64_t value)
{
    if (coil_types[type].family == COIL_F_REAL) {
        double r = coil_real(type, value);
        return (uint8_t)((r == 0 ? COIL_Z : 0) | (r < 0 ? COIL_S : 0) | (isnan(r) ? COIL_N : 0));
    }
    return (uint8_t)((value ? 0 : COIL_Z) |
                     (coil_types[type].family == COIL_F_SIGNED && (int64_t)value < 0 ? COIL_S : 0));
}

uint64_t coil_combine(uint8_t opcode, uint8_t type, uint64_t a, uint64_t b, uint8_t *flags)
{
    struct coil_operation o = {.opcode = opcode, .type = type, .saturate = -1, .a = a, .b = b};
    coil_operate(&o);
    *flags |= o.flags & (COIL_C | COIL_V | COIL_N);
    return o.result;
}

/* Returns the lane type of a vector. If the vector has none, it is the type of the scalar that
 * is read or written. */
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
        coil_flags_set(vm, s->opcode, coil_value_flags(type, value), 0);
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
        TRY(coil_work_at(vm, i, lanes));
        uint64_t y = coil_convert_bits(coil_get(vm, b + i * coil_types[other].bytes, other), other,
                                       type, false);
        sum = coil_combine(
            COIL_OP_ADD, type, sum,
            coil_combine(COIL_OP_MUL, type, coil_get(vm, a + i * size, type), y, &flags), &flags);
    }
    TRY(coil_place_write(vm, &s->places[0], sum, type));
    coil_flags_set(vm, s->opcode, (uint8_t)(coil_value_flags(type, sum) | (flags & COIL_V)), 0);
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
        zero &= (coil_value_flags(type, z[i]) & COIL_Z) != 0;
    }
    uint8_t lane = coil_lane_of(&s->places[0]), *out;
    TRY(coil_place_bytes(vm, &s->places[0], true, &out));
    for (unsigned i = 0; i < 3; i++)
        coil_put(vm, out + i * coil_types[lane].bytes, lane,
                 coil_convert_bits(z[i], type, lane, false));
    coil_flags_set(vm, s->opcode, zero ? COIL_Z : 0, 0);
    return 0;
}

double coil_as_double(uint8_t type, uint64_t value)
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
    /* A vector has at most 65,535 lanes, so it is written without the possibility of an
     * interrupt. */
    TRY(coil_work(vm, lanes / 2));
    for (uint64_t i = 0; i < lanes; i++) {
        double v = coil_as_double(type, coil_get(vm, a + i * size, type));
        sum += v * v;
    }
    double length = sqrt(sum);
    if (!norm) {
        uint64_t bits = coil_real_bits(COIL_T_FP64, length);
        if (type == COIL_T_FP32)
            bits = coil_convert_bits(coil_convert_bits(bits, COIL_T_FP64, COIL_T_FP32, false),
                                     COIL_T_FP32, COIL_T_FP64, false);
        TRY(coil_place_write(vm, &s->places[0], bits, COIL_T_FP64));
        coil_flags_set(vm, s->opcode, length == 0 ? COIL_Z : 0, 0);
        return 0;
    }
    uint8_t lane = coil_lane_of(&s->places[0]);
    TRY(coil_place_bytes(vm, &s->places[0], true, &out));
    for (uint64_t i = 0; i < lanes; i++) {
        double v = coil_as_double(type, coil_get(vm, a + i * size, type));
        uint64_t bits = coil_real_bits(COIL_T_FP64, length == 0 ? v : v / length);
        coil_put(vm, out + i * coil_types[lane].bytes, lane,
                 coil_convert_bits(bits, COIL_T_FP64, lane, false));
    }
    uint8_t flags = (uint8_t)((length == 0 ? COIL_Z | COIL_D : 0) | (isnan(length) ? COIL_N : 0));
    coil_flags_set(vm, s->opcode, flags, 0);
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
        if (coil_work_at(vm, i, lanes)) {
            free(copy);
            return COIL_PAUSE;
        }
        uint64_t from = coil_get(vm, mask + i * coil_types[mask_type].bytes, mask_type);
        if (from >= have) {
            free(copy);
            return COIL_TRAP_BOUNDS_VIOLATION;
        }
        coil_put(vm, copy + i * coil_types[lane].bytes, lane,
                 coil_convert_bits(coil_get(vm, v + from * coil_types[type].bytes, type), type,
                                   lane, false));
    }
    return coil_deliver(vm, &s->places[0], copy, s->places[0].type->size);
}

/* Executes EXTRACT and INSERT, which copy consecutive lanes from one vector to another. */
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
    /* A vector has at most 65,535 lanes, so it is written without the possibility of an
     * interrupt. */
    TRY(coil_work(vm, length / 2));
    for (uint64_t i = 0; i < length; i++) {
        uint64_t source = extract ? start + i : i, target = extract ? i : start + i;
        uint64_t value = coil_get(vm, from + source * coil_types[type].bytes, type);
        coil_put(vm, to + target * coil_types[lane].bytes, lane,
                 coil_convert_bits(value, type, lane, s->places[0].ext & COIL_SATURATE));
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
    default: return coil_run_matrix(vm, s);
    }
}
