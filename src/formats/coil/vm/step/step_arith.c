/* Executes arithmetic, bit operations and comparisons, on scalars and lane by lane. ops.c has their
 * meaning. */
#include "coil/vm/step/step.h"
#include <stdlib.h>

struct coil_roles coil_roles_of(const struct coil_step *s)
{
    int n = s->count;
    switch (s->opcode) {
    case COIL_OP_CMP:
    case COIL_OP_TEST: return (struct coil_roles){-1, 0, 1, -1};
    case COIL_OP_BITCHK:
        return n == 2 ? (struct coil_roles){-1, 0, 1, -1} : (struct coil_roles){0, 1, 2, -1};
    case COIL_OP_CLAMP:
    case COIL_OP_FMA: return (struct coil_roles){0, 1, 2, 3};
    case COIL_OP_DIVMOD: return (struct coil_roles){0, 2, 3, -1};
    case COIL_OP_INC:
    case COIL_OP_DEC: return (struct coil_roles){0, 0, -1, -1};
    case COIL_OP_ADDC:
    case COIL_OP_SUBB:
    case COIL_OP_MULH:
    case COIL_OP_MIN:
    case COIL_OP_MAX: return (struct coil_roles){0, 1, 2, -1};
    default: break;
    }
    bool unary = coil_ops[s->opcode].forms[0] == 'W' &&
                 (coil_ops[s->opcode].forms[1] == '|' || s->opcode == COIL_OP_POPCNT);
    if (unary) return (struct coil_roles){0, n - 1, -1, -1};
    return n == 2 ? (struct coil_roles){0, 0, 1, -1} : (struct coil_roles){0, 1, 2, -1};
}

bool coil_keeps_value_type(uint8_t opcode)
{
    /* If the opcode is constant, this compiles to a table. */
    switch (opcode) {
#define OP(code, name, forms, ...)                                                                 \
    case code:                                                                                     \
        return __builtin_strchr(forms, 'S') || code == COIL_OP_POPCNT;
#include "coil/isa.def"
    default: return false;
    }
}

uint8_t coil_operation_type(const struct coil_step *s, const struct coil_roles *r)
{
    uint8_t type = coil_type_at(s, (unsigned)r->a);
    if (coil_keeps_value_type(s->opcode) || r->b < 0)
        return type == COIL_T_BIT ? COIL_T_UNT8 : type;
    type = coil_common(type, coil_type_at(s, (unsigned)r->b));
    return r->c < 0 ? type : coil_common(type, coil_type_at(s, (unsigned)r->c));
}

bool coil_clamps(uint8_t opcode)
{
    _Static_assert(COIL_OP_DIV - COIL_OP_ADD == 3, "ADD SUB MUL DIV");
    return (opcode >= COIL_OP_ADD && opcode <= COIL_OP_DIV) || opcode == COIL_OP_INC ||
           opcode == COIL_OP_DEC || opcode == COIL_OP_NEG || opcode == COIL_OP_ABS;
}

static bool step_arith_divides(uint8_t opcode)
{
    return opcode == COIL_OP_DIV || opcode == COIL_OP_MOD || opcode == COIL_OP_DIVMOD;
}

static uint32_t run_scalar(struct coil_vm *vm, const struct coil_step *s,
                           const struct coil_roles *r)
{
    struct coil_operation o = {.opcode = s->opcode, .saturate = -1};
    const struct coil_place *to = r->to >= 0 ? &s->places[r->to] : NULL;
    o.type = coil_operation_type(s, r);
    TRY(coil_read_as(vm, s, r->a, o.type, &o.a));
    if (r->b >= 0 && coil_keeps_value_type(s->opcode))
        TRY(coil_read_count(vm, s, (unsigned)r->b, &o.b));
    else
        TRY(coil_read_as(vm, s, r->b, o.type, &o.b));
    TRY(coil_read_as(vm, s, r->c, o.type, &o.c));
    bool chained = s->opcode == COIL_OP_ADDC || s->opcode == COIL_OP_SUBB;
    if (chained) {
        uint64_t carry = 0;
        coil_flags_settle(vm);
        if (s->count == 4) TRY(coil_read_own(vm, s, 3, &carry));
        o.carry = s->count == 4 ? carry != 0 : (vm->flags & COIL_C) != 0;
    }
    if (to && to->at != COIL_AT_REGISTER && to->ext & COIL_SATURATE && coil_clamps(s->opcode) &&
        coil_is_int(to->op) && coil_is_int(o.type))
        o.saturate = to->op;
    if (vm->divide_trap && step_arith_divides(s->opcode) && coil_is_int(o.type) && !o.b)
        return COIL_TRAP_DIVIDE_BY_ZERO;
    coil_operate(&o);
    if (to)
        TRY(coil_place_write(vm, to, o.result,
                             o.in_destination              ? to->op
                             : s->opcode == COIL_OP_BITCHK ? COIL_T_UNT8
                                                           : o.type));
    if (s->opcode == COIL_OP_DIVMOD) TRY(coil_place_write(vm, &s->places[1], o.second, o.type));
    if (chained && s->count == 4) {
        const struct coil_place *carry = &s->places[3];
        if (carry->at != COIL_AT_CONST && !(carry->ext & COIL_CONST))
            TRY(coil_place_write(vm, carry, o.flags & COIL_C ? 1 : 0, COIL_T_UNT8));
    }
    coil_flags_set(vm, s->opcode, o.flags, (uint8_t)~o.written);
    return 0;
}

struct lane_source {
    const uint8_t *bytes; /* NULL if every lane has the same value */
    uint8_t op;
    uint64_t size, value;
};

static uint32_t open_source(struct coil_vm *vm, const struct coil_step *s, int i, uint8_t type,
                            uint8_t count_of, struct lane_source *out)
{
    *out = (struct lane_source){.op = type};
    if (i < 0) return 0;
    const struct coil_place *p = &s->places[i];
    if (coil_place_scalar(p)) {
        if (count_of) return coil_read_count(vm, s, (unsigned)i, &out->value);
        return coil_read_as(vm, s, i, type, &out->value);
    }
    uint8_t *bytes, lane = coil_lane_of(p);
    TRY(coil_place_bytes(vm, p, false, &bytes));
    out->bytes = bytes;
    out->op = lane == COIL_T_VOID ? type : lane;
    out->size = coil_types[out->op].bytes;
    return 0;
}

static uint64_t lane_value(const struct coil_vm *vm, const struct lane_source *l, uint64_t i,
                           uint8_t type)
{
    return l->bytes
               ? coil_convert_bits(coil_get(vm, l->bytes + i * l->size, l->op), l->op, type, false)
               : l->value;
}

static uint8_t step_lane(const struct coil_step *s, const struct coil_roles *r)
{
    int order[4] = {r->a, r->b, r->c, r->to};
    for (int k = 0; k < 4; k++)
        if (order[k] >= 0 && coil_is_array(s->places[order[k]].type)) {
            uint8_t lane = coil_lane_of(&s->places[order[k]]);
            if (lane != COIL_T_VOID) return lane;
        }
    return COIL_T_UNT8; /* Bitwise operations work on vectors without a lane type, too. */
}

static uint32_t run_lanes(struct coil_vm *vm, const struct coil_step *s, const struct coil_roles *r)
{
    uint8_t type = step_lane(s, r), flags = 0, written = 0;
    const struct coil_place *to = r->to >= 0 ? &s->places[r->to] : NULL;
    const struct coil_type *shape = NULL;
    for (unsigned i = 0; i < s->count && !shape; i++)
        if (coil_is_array(s->places[i].type)) shape = s->places[i].type;
    uint64_t lanes = shape->size / coil_types[type].bytes;
    struct lane_source a, b, c;
    bool counts = coil_keeps_value_type(s->opcode), zero = true;
    TRY(open_source(vm, s, r->a, type, false, &a));
    TRY(open_source(vm, s, r->b, type, counts, &b));
    TRY(open_source(vm, s, r->c, type, false, &c));
    uint8_t lane_to = to && coil_lane_of(to) != COIL_T_VOID ? coil_lane_of(to) : type;
    uint64_t step = coil_types[lane_to].bytes;
    uint8_t *copy = to ? malloc((size_t)(lanes * step) + 1) : NULL;
    if (to && !copy) return COIL_TRAP_OUT_OF_MEMORY;
    for (uint64_t i = 0; i < lanes; i++) {
        if (coil_work_at(vm, i, lanes)) {
            free(copy);
            return COIL_PAUSE;
        }
        struct coil_operation o = {.opcode = s->opcode, .type = type, .saturate = -1};
        o.a = lane_value(vm, &a, i, type);
        o.b = lane_value(vm, &b, i, type);
        o.c = lane_value(vm, &c, i, type);
        if (to && to->ext & COIL_SATURATE && coil_clamps(s->opcode) && coil_is_int(lane_to) &&
            coil_is_int(type))
            o.saturate = lane_to;
        coil_operate(&o);
        zero &= (o.flags & COIL_Z) != 0;
        flags |= o.flags & (COIL_C | COIL_V | COIL_D | COIL_N);
        if (!i) flags |= o.flags & COIL_S;
        written |= o.written;
        if (to)
            coil_put(vm, copy + i * step, lane_to,
                     o.in_destination ? o.result
                                      : coil_convert_bits(o.result, type, lane_to, false));
    }
    uint8_t *out;
    uint32_t trap = to ? coil_place_bytes(vm, to, true, &out) : 0;
    if (trap) {
        free(copy);
        return trap;
    }
    written &= (uint8_t)~COIL_P;
    if (s->opcode == COIL_OP_CMP) {
        written = COIL_Z | COIL_N;
        flags = 0;
    }
    coil_flags_set(vm, s->opcode, (uint8_t)(flags | (zero ? COIL_Z : 0)), (uint8_t)~written);
    if (!to) return 0;
    uint64_t size = lanes * step;
    return coil_deliver(vm, to, copy, size < to->type->size ? size : to->type->size);
}

uint32_t coil_run_arith(struct coil_vm *vm, const struct coil_step *s)
{
    struct coil_roles r = coil_roles_of(s);
    bool arrays = false, wide = false, matrices = s->opcode == COIL_OP_MUL;
    for (unsigned i = 0; i < s->count; i++) {
        wide |= coil_is_wide(s->places[i].type);
        arrays |= coil_is_array(s->places[i].type) && s->places[i].at != COIL_AT_REGISTER;
        matrices &= s->places[i].type && coil_types[s->places[i].type->op].family == COIL_F_MATRIX;
    }
    if (wide) return coil_run_wide(vm, s, &r);
    if (!arrays) return run_scalar(vm, s, &r);
    return matrices ? coil_run_product(vm, s, (unsigned)r.a, (unsigned)r.b) : run_lanes(vm, s, &r);
}
