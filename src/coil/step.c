/* One instruction in its general form: operands anywhere, of any type. The interpreter's loop has
 * cells for the frequent cases; this is the meaning of all of them. */
#include "coil/places.h"
#include <math.h>
#include <stdlib.h>

static bool is_array(const struct coil_type *t)
{
    uint8_t family = t ? coil_types[t->op].family : COIL_F_NONE;
    return family == COIL_F_VECTOR || family == COIL_F_MATRIX || family == COIL_F_TENSOR;
}

/* ---- places ---- */

static uint32_t term_value(struct coil_vm *vm, const struct coil_term *t, uint64_t *value)
{
    uint32_t trap = 0;
    const uint8_t *p;
    switch (t->at) {
    case COIL_AT_CONST: *value = t->value; return 0;
    case COIL_AT_SLOT: *value = vm->slots[vm->fp + t->slot]; return 0;
    case COIL_AT_REGISTER: *value = vm->v[t->slot]; return 0;
    case COIL_AT_FRAME:
    case COIL_AT_MEMORY: {
        uint64_t at = t->at == COIL_AT_FRAME ? vm->frame_top + t->slot : t->value;
        p = coil_memory(vm, at, coil_types[t->op].bytes, false, &trap);
        if (p)
            *value = coil_canon(t->op, bytes_uint(p, coil_types[t->op].bytes, vm->m->big_endian));
        return trap;
    }
    default: *value = 0; return 0;
    }
}

static uint32_t address_of(struct coil_vm *vm, const struct coil_place *p, uint64_t *address)
{
    uint64_t base = 0, index = 0;
    if (p->at == COIL_AT_FRAME) {
        *address = vm->frame_top + p->slot;
        return 0;
    }
    TRY(term_value(vm, &p->base, &base));
    TRY(term_value(vm, &p->index, &index));
    *address = base + index * p->scale + p->value;
    return 0;
}

/* The bytes of a value in memory, or of a constant that is no scalar. */
uint32_t coil_place_bytes(struct coil_vm *vm, const struct coil_place *p, bool write,
                          uint8_t **bytes)
{
    uint64_t address;
    uint32_t trap = 0;
    if (p->at == COIL_AT_CONST) {
        *bytes = (uint8_t *)p->image;
        return *bytes ? 0 : COIL_TRAP_INVALID_INSTRUCTION;
    }
    if (p->at != COIL_AT_FRAME && p->at != COIL_AT_MEMORY) return COIL_TRAP_INVALID_INSTRUCTION;
    TRY(address_of(vm, p, &address));
    *bytes = coil_memory(vm, address, p->type->size, write, &trap);
    return trap;
}

uint32_t coil_place_read(struct coil_vm *vm, const struct coil_place *p, uint8_t as,
                         uint64_t *value)
{
    uint8_t *bytes;
    switch (p->at) {
    case COIL_AT_CONST: *value = coil_convert_bits(p->value, p->op, as, false); return 0;
    case COIL_AT_SLOT:
        *value =
            coil_convert_bits(coil_canon(p->op, vm->slots[vm->fp + p->slot]), p->op, as, false);
        return 0;
    case COIL_AT_REGISTER: *value = coil_canon(as, vm->v[p->slot]); return 0;
    default:
        TRY(coil_place_bytes(vm, p, false, &bytes));
        *value = coil_canon(p->op, bytes_uint(bytes, coil_types[p->op].bytes, vm->m->big_endian));
        *value = coil_convert_bits(*value, p->op, as, false);
        return 0;
    }
}

void coil_put(const struct coil_vm *vm, uint8_t *bytes, uint8_t op, uint64_t value)
{
    size_t n = coil_types[op].bytes;
    for (size_t i = 0; i < n; i++)
        bytes[vm->m->big_endian ? n - 1 - i : i] = (uint8_t)(value >> 8 * i);
}

uint64_t coil_get(const struct coil_vm *vm, const uint8_t *bytes, uint8_t op)
{
    return coil_canon(op, bytes_uint(bytes, coil_types[op].bytes, vm->m->big_endian));
}

uint32_t coil_place_write(struct coil_vm *vm, const struct coil_place *p, uint64_t value,
                          uint8_t from)
{
    uint8_t *bytes;
    bool saturate = p->ext & COIL_SATURATE;
    if (p->at == COIL_AT_REGISTER) {
        vm->v[p->slot] = value;
        return 0;
    }
    value = coil_convert_bits(value, from, p->op, saturate);
    if (p->at == COIL_AT_SLOT) {
        /* A use may see the slot as another integer type of the same width: the slot keeps its own.
         */
        vm->slots[vm->fp + p->slot] = coil_canon(p->type->op, value);
        return 0;
    }
    TRY(coil_place_bytes(vm, p, true, &bytes));
    coil_put(vm, bytes, p->op, value);
    return 0;
}

uint8_t coil_step_type(const struct coil_step *s)
{
    uint8_t group = coil_ops[s->opcode].group;
    if (group == COIL_G_STACK || group == COIL_G_PORT) return COIL_T_INT64;
    for (unsigned i = 0; i < s->count; i++) {
        if (s->form && (s->form[i] == 'S' || s->form[i] == 'O')) continue;
        if (group == COIL_G_VECTOR && s->form && s->form[i] == 'X') continue;
        const struct coil_place *p = &s->places[i];
        if (p->at == COIL_AT_REGISTER || p->at == COIL_AT_NONE) continue;
        if (coil_is_scalar(p->op)) return p->op;
    }
    return COIL_T_INT64;
}

/* The type in which a place takes part. */
uint8_t coil_type_at(const struct coil_step *s, unsigned i)
{
    return s->places[i].at == COIL_AT_REGISTER ? coil_step_type(s) : s->places[i].op;
}

uint32_t coil_read_own(struct coil_vm *vm, const struct coil_step *s, unsigned i, uint64_t *value)
{
    return coil_place_read(vm, &s->places[i], coil_type_at(s, i), value);
}

/* ---- moving ---- */

static uint32_t move_lanes(struct coil_vm *vm, const struct coil_place *to,
                           const struct coil_place *from)
{
    uint8_t *out, *in;
    const struct coil_type *d = to->type, *v = from->type;
    TRY(coil_place_bytes(vm, from, false, &in));
    TRY(coil_place_bytes(vm, to, true, &out));
    bool raw = !d->elem || !v->elem || d->elem->op == v->elem->op || !coil_is_scalar(d->elem->op) ||
               !coil_is_scalar(v->elem->op);
    if (raw) {
        memmove(out, in, (size_t)(d->size < v->size ? d->size : v->size));
        return 0;
    }
    uint8_t lane_to = d->elem->op, lane_from = v->elem->op;
    uint64_t lanes = d->size / d->elem->size;
    uint8_t *copy = malloc((size_t)d->size);
    if (!copy) return COIL_TRAP_OUT_OF_MEMORY;
    for (uint64_t i = 0; i < lanes; i++) {
        uint64_t value = coil_get(vm, in + i * v->elem->size, lane_from);
        coil_put(vm, copy + i * d->elem->size, lane_to,
                 coil_convert_bits(value, lane_from, lane_to, to->ext & COIL_SATURATE));
    }
    memcpy(out, copy, (size_t)d->size);
    free(copy);
    return 0;
}

static uint32_t broadcast(struct coil_vm *vm, const struct coil_place *to, uint64_t value,
                          uint8_t from)
{
    uint8_t *out;
    const struct coil_type *d = to->type;
    if (!d->elem || !coil_is_scalar(d->elem->op)) return COIL_TRAP_INVALID_INSTRUCTION;
    TRY(coil_place_bytes(vm, to, true, &out));
    value = coil_convert_bits(value, from, d->elem->op, to->ext & COIL_SATURATE);
    for (uint64_t at = 0; at < d->size; at += d->elem->size)
        coil_put(vm, out + at, d->elem->op, value);
    return 0;
}

static bool scalar_place(const struct coil_place *p)
{
    return p->at == COIL_AT_REGISTER || coil_is_scalar(p->op);
}

static uint32_t move(struct coil_vm *vm, const struct coil_step *s, const struct coil_place *to,
                     const struct coil_place *from)
{
    uint64_t value;
    if (scalar_place(from)) {
        uint8_t type = from->at == COIL_AT_REGISTER ? coil_step_type(s) : from->op;
        TRY(coil_place_read(vm, from, type, &value));
        return scalar_place(to) ? coil_place_write(vm, to, value, type)
                                : broadcast(vm, to, value, type);
    }
    if (scalar_place(to)) return COIL_TRAP_INVALID_INSTRUCTION;
    return move_lanes(vm, to, from);
}

static uint32_t clear(struct coil_vm *vm, const struct coil_place *p)
{
    uint8_t *bytes;
    if (p->at == COIL_AT_SLOT) {
        vm->slots[vm->fp + p->slot] = 0;
        return 0;
    }
    TRY(coil_place_bytes(vm, p, true, &bytes));
    memset(bytes, 0, (size_t)p->type->size);
    return 0;
}

static uint32_t run_move(struct coil_vm *vm, const struct coil_step *s)
{
    uint64_t value;
    if (s->opcode == COIL_OP_VAR) {
        TRY(clear(vm, &s->places[1]));
        return s->count == 3 ? move(vm, s, &s->places[1], &s->places[2]) : 0;
    }
    if (s->opcode == COIL_OP_CAST && s->count == 3) {
        const struct coil_place *through = &s->places[1];
        if (!coil_is_scalar(through->op) || !scalar_place(&s->places[2]))
            return move(vm, s, &s->places[0], &s->places[2]);
        uint8_t type = coil_type_at(s, 2);
        TRY(coil_place_read(vm, &s->places[2], type, &value));
        value = coil_convert_bits(value, type, through->op, through->ext & COIL_SATURATE);
        return coil_place_write(vm, &s->places[0], value, through->op);
    }
    return move(vm, s, &s->places[0], &s->places[1]);
}

/* ---- arithmetic ---- */

struct roles { /* which operands are what; -1: none */
    int to, a, b, c;
};

static struct roles roles_of(const struct coil_step *s)
{
    int n = s->count;
    switch (s->opcode) {
    case COIL_OP_CMP:
    case COIL_OP_TEST: return (struct roles){-1, 0, 1, -1};
    case COIL_OP_BITCHK: return n == 2 ? (struct roles){-1, 0, 1, -1} : (struct roles){0, 1, 2, -1};
    case COIL_OP_CLAMP:
    case COIL_OP_FMA: return (struct roles){0, 1, 2, 3};
    case COIL_OP_DIVMOD: return (struct roles){0, 2, 3, -1};
    case COIL_OP_INC:
    case COIL_OP_DEC: return (struct roles){0, 0, -1, -1};
    case COIL_OP_ADDC:
    case COIL_OP_SUBB:
    case COIL_OP_MULH:
    case COIL_OP_MIN:
    case COIL_OP_MAX: return (struct roles){0, 1, 2, -1};
    default: break;
    }
    bool unary = coil_ops[s->opcode].forms[0] == 'W' &&
                 (coil_ops[s->opcode].forms[1] == '|' || s->opcode == COIL_OP_POPCNT);
    if (unary) return (struct roles){0, n - 1, -1, -1};
    return n == 2 ? (struct roles){0, 0, 1, -1} : (struct roles){0, 1, 2, -1};
}

static bool keeps_value_type(uint8_t opcode)
{
    const char *forms = coil_ops[opcode].forms;
    return strchr(forms, 'S') || opcode == COIL_OP_POPCNT;
}

uint8_t coil_lane_of(const struct coil_place *p)
{
    return p->type && p->type->elem && coil_is_scalar(p->type->elem->op) ? p->type->elem->op
                                                                         : COIL_T_VOID;
}

static uint8_t operation_type(const struct coil_step *s, const struct roles *r)
{
    uint8_t type = coil_type_at(s, (unsigned)r->a);
    if (keeps_value_type(s->opcode) || r->b < 0) return type == COIL_T_BIT ? COIL_T_UNT8 : type;
    type = coil_common(type, coil_type_at(s, (unsigned)r->b));
    return r->c < 0 ? type : coil_common(type, coil_type_at(s, (unsigned)r->c));
}

/* Counts and bit numbers are unsigned values of their own type. */
static uint32_t read_count(struct coil_vm *vm, const struct coil_step *s, unsigned i,
                           uint64_t *value)
{
    uint8_t type = s->places[i].at == COIL_AT_REGISTER ? COIL_T_UNT64 : s->places[i].op;
    TRY(coil_place_read(vm, &s->places[i], type, value));
    unsigned bits = 8u * coil_types[type].bytes;
    if (bits < 64) *value &= (UINT64_C(1) << bits) - 1;
    return 0;
}

uint32_t coil_read_as(struct coil_vm *vm, const struct coil_step *s, int i, uint8_t type,
                      uint64_t *value)
{
    *value = 0;
    if (i < 0) return 0;
    const struct coil_place *p = &s->places[i];
    if (p->at == COIL_AT_REGISTER) {
        uint8_t own = coil_step_type(s);
        TRY(coil_place_read(vm, p, own, value));
        *value = coil_convert_bits(*value, own, type, false);
        return 0;
    }
    return coil_place_read(vm, p, type, value);
}

static bool clamps(uint8_t opcode)
{
    return (opcode >= COIL_OP_ADD && opcode <= COIL_OP_DIV) || opcode == COIL_OP_INC ||
           opcode == COIL_OP_DEC || opcode == COIL_OP_NEG || opcode == COIL_OP_ABS;
}

static bool divides(uint8_t opcode)
{
    return opcode == COIL_OP_DIV || opcode == COIL_OP_MOD || opcode == COIL_OP_DIVMOD;
}

static uint32_t run_scalar(struct coil_vm *vm, const struct coil_step *s, const struct roles *r)
{
    struct coil_operation o = {.opcode = s->opcode, .saturate = -1};
    const struct coil_place *to = r->to >= 0 ? &s->places[r->to] : NULL;
    o.type = operation_type(s, r);
    TRY(coil_read_as(vm, s, r->a, o.type, &o.a));
    if (r->b >= 0 && keeps_value_type(s->opcode))
        TRY(read_count(vm, s, (unsigned)r->b, &o.b));
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
    if (to && to->at != COIL_AT_REGISTER && to->ext & COIL_SATURATE && clamps(s->opcode) &&
        coil_is_int(to->op) && coil_is_int(o.type))
        o.saturate = to->op;
    if (vm->divide_trap && divides(s->opcode) && coil_is_int(o.type) && !o.b)
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
    if (o.written) coil_flags_set(vm, o.flags, o.written);
    return 0;
}

/* ---- lane by lane ---- */

struct lane_source {
    const uint8_t *bytes; /* NULL: the same value for every lane */
    uint8_t op;
    uint64_t size, value;
};

static uint32_t open_source(struct coil_vm *vm, const struct coil_step *s, int i, uint8_t type,
                            uint8_t count_of, struct lane_source *out)
{
    *out = (struct lane_source){.op = type};
    if (i < 0) return 0;
    const struct coil_place *p = &s->places[i];
    if (scalar_place(p)) {
        if (count_of) return read_count(vm, s, (unsigned)i, &out->value);
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

static uint8_t step_lane(const struct coil_step *s, const struct roles *r)
{
    int order[4] = {r->a, r->b, r->c, r->to};
    for (int k = 0; k < 4; k++)
        if (order[k] >= 0 && is_array(s->places[order[k]].type)) {
            uint8_t lane = coil_lane_of(&s->places[order[k]]);
            if (lane != COIL_T_VOID) return lane;
        }
    return COIL_T_UNT8; /* bitwise work on untyped vectors */
}

static uint32_t run_lanes(struct coil_vm *vm, const struct coil_step *s, const struct roles *r)
{
    uint8_t type = step_lane(s, r), flags = 0, written = 0;
    const struct coil_place *to = r->to >= 0 ? &s->places[r->to] : NULL;
    const struct coil_type *shape = NULL;
    for (unsigned i = 0; i < s->count && !shape; i++)
        if (is_array(s->places[i].type)) shape = s->places[i].type;
    uint64_t lanes = shape->size / coil_types[type].bytes;
    struct lane_source a, b, c;
    bool counts = keeps_value_type(s->opcode), zero = true;
    TRY(open_source(vm, s, r->a, type, false, &a));
    TRY(open_source(vm, s, r->b, type, counts, &b));
    TRY(open_source(vm, s, r->c, type, false, &c));
    uint8_t lane_to = to && coil_lane_of(to) != COIL_T_VOID ? coil_lane_of(to) : type;
    uint64_t step = coil_types[lane_to].bytes;
    uint8_t *out = NULL, *copy = to ? malloc((size_t)(lanes * step) + 1) : NULL;
    if (to && !copy) return COIL_TRAP_OUT_OF_MEMORY;
    for (uint64_t i = 0; i < lanes; i++) {
        struct coil_operation o = {.opcode = s->opcode, .type = type, .saturate = -1};
        o.a = lane_value(vm, &a, i, type);
        o.b = lane_value(vm, &b, i, type);
        o.c = lane_value(vm, &c, i, type);
        if (to && to->ext & COIL_SATURATE && clamps(s->opcode) && coil_is_int(lane_to) &&
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
    uint32_t trap = to ? coil_place_bytes(vm, to, true, &out) : 0;
    if (to && !trap)
        memcpy(out, copy, (size_t)(lanes * step < to->type->size ? lanes * step : to->type->size));
    free(copy);
    if (trap) return trap;
    written &= (uint8_t)~COIL_P;
    if (s->opcode == COIL_OP_CMP) {
        written = COIL_Z | COIL_N;
        flags = 0;
    }
    if (written) coil_flags_set(vm, (uint8_t)(flags | (zero ? COIL_Z : 0)), written);
    return 0;
}

/* ---- matrices ---- */

uint64_t coil_element(const struct coil_vm *vm, const struct coil_type *t, const uint8_t *bytes,
                      unsigned row, unsigned column)
{
    unsigned rows, columns;
    coil_matrix_shape(t, &rows, &columns);
    if (t->op == COIL_T_DIAGMAT)
        return row == column ? coil_get(vm, bytes + row * t->elem->size, t->elem->op) : 0;
    return coil_get(vm, bytes + ((uint64_t)row * columns + column) * t->elem->size, t->elem->op);
}

void coil_set_element(const struct coil_vm *vm, const struct coil_type *t, uint8_t *bytes,
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

uint64_t coil_combine(uint8_t opcode, uint8_t type, uint64_t a, uint64_t b, uint8_t *flags)
{
    struct coil_operation o = {.opcode = opcode, .type = type, .saturate = -1, .a = a, .b = b};
    coil_operate(&o);
    *flags |= o.flags & (COIL_C | COIL_V | COIL_N);
    return o.result;
}

/* A scratch copy of a matrix result, delivered at the end so that operands may overlap. */
uint32_t coil_deliver(struct coil_vm *vm, const struct coil_place *to, uint8_t *copy)
{
    uint8_t *out;
    uint32_t trap = coil_place_bytes(vm, to, true, &out);
    if (!trap) memcpy(out, copy, (size_t)to->type->size);
    free(copy);
    return trap;
}

static uint32_t run_product(struct coil_vm *vm, const struct coil_step *s, const struct roles *r)
{
    const struct coil_type *ta = s->places[r->a].type, *tb = s->places[r->b].type,
                           *td = s->places[0].type;
    uint8_t *a, *b, flags = 0, type = ta->elem->op, first = 0;
    unsigned rows, inner, ignored, columns;
    coil_matrix_shape(ta, &rows, &inner);
    coil_matrix_shape(tb, &ignored, &columns);
    TRY(coil_place_bytes(vm, &s->places[r->a], false, &a));
    TRY(coil_place_bytes(vm, &s->places[r->b], false, &b));
    uint8_t *copy = calloc(1, (size_t)td->size + 1);
    if (!copy) return COIL_TRAP_OUT_OF_MEMORY;
    bool zero = true;
    for (unsigned i = 0; i < rows; i++)
        for (unsigned k = 0; k < columns; k++) {
            uint64_t sum = 0;
            for (unsigned j = 0; j < inner; j++) {
                uint64_t right =
                    coil_convert_bits(coil_element(vm, tb, b, j, k), tb->elem->op, type, false);
                sum = coil_combine(
                    COIL_OP_ADD, type, sum,
                    coil_combine(COIL_OP_MUL, type, coil_element(vm, ta, a, i, j), right, &flags),
                    &flags);
            }
            bool null = coil_types[type].family == COIL_F_REAL ? coil_real(type, sum) == 0 : !sum;
            zero &= null;
            if (!i && !k)
                first = coil_types[type].family == COIL_F_REAL
                            ? coil_real(type, sum) < 0
                            : coil_types[type].family == COIL_F_SIGNED && (int64_t)sum < 0;
            coil_set_element(
                vm, td, copy, i, k,
                coil_convert_bits(sum, type, td->elem->op, s->places[0].ext & COIL_SATURATE));
        }
    TRY(coil_deliver(vm, &s->places[0], copy));
    coil_flags_set(vm,
                   (uint8_t)((flags & (COIL_C | COIL_V | COIL_N)) | (zero ? COIL_Z : 0) |
                             (first ? COIL_S : 0)),
                   COIL_Z | COIL_S | COIL_V | COIL_N | (coil_is_int(type) ? COIL_C : 0));
    return 0;
}

static uint32_t run_arithmetic(struct coil_vm *vm, const struct coil_step *s)
{
    struct roles r = roles_of(s);
    bool arrays = false, matrices = s->opcode == COIL_OP_MUL;
    for (unsigned i = 0; i < s->count; i++) {
        arrays |= is_array(s->places[i].type) && s->places[i].at != COIL_AT_REGISTER;
        matrices &= s->places[i].type && coil_types[s->places[i].type->op].family == COIL_F_MATRIX;
    }
    if (!arrays) return run_scalar(vm, s, &r);
    return matrices ? run_product(vm, s, &r) : run_lanes(vm, s, &r);
}

/* ---- stack and memory ---- */

static uint32_t run_stack(struct coil_vm *vm, const struct coil_step *s)
{
    const struct coil_place *p = &s->places[0];
    uint64_t size = p->at == COIL_AT_REGISTER ? 8 : p->type->size, room = (size + 7) / 8 * 8, value;
    uint8_t op = p->at == COIL_AT_REGISTER ? COIL_T_INT64 : p->op, *bytes;
    uint32_t trap = 0;
    if (s->opcode == COIL_OP_PUSH) {
        if (room > vm->sp - vm->stack->base) return COIL_TRAP_STACK_OVERFLOW;
        uint8_t *top = vm->stack->bytes + (vm->sp - room - vm->stack->base);
        if (scalar_place(p)) {
            TRY(coil_place_read(vm, p, op, &value));
            memset(top, 0, (size_t)room);
            coil_put(vm, top, op, value);
        } else {
            TRY(coil_place_bytes(vm, p, false, &bytes));
            memmove(top, bytes, (size_t)size);
        }
        vm->sp -= room;
        return 0;
    }
    if (room > vm->stack->base + vm->stack->size - vm->sp) return COIL_TRAP_STACK_UNDERFLOW;
    const uint8_t *top = vm->stack->bytes + (vm->sp - vm->stack->base);
    if (scalar_place(p)) {
        trap = coil_place_write(vm, p, coil_get(vm, top, op), op);
    } else {
        trap = coil_place_bytes(vm, p, true, &bytes);
        if (!trap) memmove(bytes, top, (size_t)size);
    }
    if (!trap) vm->sp += room;
    return trap;
}

static uint32_t run_exchange(struct coil_vm *vm, const struct coil_step *s)
{
    const struct coil_place *x = &s->places[0], *y = &s->places[1];
    uint64_t a, b;
    if (scalar_place(x) && scalar_place(y)) {
        uint8_t tx = coil_type_at(s, 0), ty = coil_type_at(s, 1);
        TRY(coil_place_read(vm, x, tx, &a));
        TRY(coil_place_read(vm, y, ty, &b));
        /* Same size: the bits change places. */
        TRY(coil_place_write(vm, x, coil_canon(tx, b), tx));
        return coil_place_write(vm, y, coil_canon(ty, a), ty);
    }
    uint8_t *p, *q;
    TRY(coil_place_bytes(vm, x, true, &p));
    TRY(coil_place_bytes(vm, y, true, &q));
    uint8_t *copy = malloc((size_t)x->type->size + 1);
    if (!copy) return COIL_TRAP_OUT_OF_MEMORY;
    memcpy(copy, p, (size_t)x->type->size);
    memmove(p, q, (size_t)x->type->size);
    memcpy(q, copy, (size_t)x->type->size);
    free(copy);
    return 0;
}

static uint32_t run_bulk(struct coil_vm *vm, const struct coil_step *s)
{
    uint64_t to, second, size = 0;
    uint32_t trap = 0;
    TRY(coil_read_own(vm, s, 0, &to));
    TRY(coil_read_own(vm, s, 1, &second));
    if (s->opcode == COIL_OP_MEMZERO)
        size = second;
    else
        TRY(coil_read_own(vm, s, 2, &size));
    const uint8_t *from =
        s->opcode == COIL_OP_MEMCPY ? coil_memory(vm, second, size, false, &trap) : NULL;
    if (trap) return trap;
    uint8_t *bytes = coil_memory(vm, to, size, true, &trap);
    if (trap) return trap;
    if (from)
        memmove(bytes, from, (size_t)size);
    else
        memset(bytes, s->opcode == COIL_OP_MEMZERO ? 0 : (int)(second & 255), (size_t)size);
    return 0;
}

static uint32_t run_aligned(struct coil_vm *vm, const struct coil_step *s)
{
    bool load = s->opcode == COIL_OP_LOADALIGN;
    const struct coil_place *value = &s->places[load ? 0 : 1];
    uint64_t address, align;
    uint32_t trap = 0;
    TRY(coil_read_own(vm, s, load ? 1 : 0, &address));
    TRY(coil_read_own(vm, s, 2, &align));
    if (!align || address % align) {
        vm->fault_address = address;
        return COIL_TRAP_MISALIGNED;
    }
    /* The memory operand that the instruction spells in its own way. */
    struct coil_place there = {.at = COIL_AT_MEMORY,
                               .op = value->op,
                               .type = value->type,
                               .base = {.at = COIL_AT_CONST, .value = address}};
    if (value->at == COIL_AT_REGISTER) {
        there.op = COIL_T_INT64;
        there.type = coil_scalar(COIL_T_INT64);
    }
    (void)trap;
    return load ? move(vm, s, value, &there) : move(vm, s, &there, value);
}

static uint32_t run_memory(struct coil_vm *vm, const struct coil_step *s)
{
    uint64_t value;
    switch (s->opcode) {
    case COIL_OP_LEA:
        TRY(address_of(vm, &s->places[1], &value));
        return coil_place_write(vm, &s->places[0], value, COIL_T_UNT64);
    case COIL_OP_XCHG: return run_exchange(vm, s);
    case COIL_OP_CAS: {
        uint64_t now, expected, wanted;
        const struct coil_place *loc = &s->places[0], *compare = &s->places[1];
        uint8_t type = coil_type_at(s, 0);
        TRY(coil_place_read(vm, loc, type, &now));
        TRY(coil_read_as(vm, s, 1, type, &expected));
        TRY(coil_read_as(vm, s, 2, type, &wanted));
        bool same = now == expected;
        if (same)
            TRY(coil_place_write(vm, loc, wanted, type));
        else if (compare->at != COIL_AT_CONST && compare->form != COIL_ADDR &&
                 !(compare->ext & COIL_CONST))
            TRY(coil_place_write(vm, compare, now, type));
        coil_flags_set(vm, same ? COIL_Z : 0, COIL_Z);
        return 0;
    }
    case COIL_OP_ALLOC:
        TRY(coil_read_own(vm, s, 1, &value));
        return coil_place_write(vm, &s->places[0], coil_heap_alloc(vm, value), COIL_T_UNT64);
    case COIL_OP_FREE:
        TRY(coil_read_own(vm, s, 0, &value));
        return !value || coil_heap_free(vm, value) ? 0 : COIL_TRAP_BAD_FREE;
    case COIL_OP_LOADALIGN:
    case COIL_OP_STOREALIGN: return run_aligned(vm, s);
    default: return run_bulk(vm, s);
    }
}

/* ---- atomics: one thread, so plain accesses; the order only has to be allowed ---- */

static uint32_t run_atomic(struct coil_vm *vm, const struct coil_step *s)
{
    const char *loc_at = strchr(s->form, 'L');
    if (!loc_at) return 0; /* ATOMFENCE */
    unsigned l = (unsigned)(loc_at - s->form);
    const struct coil_place *loc = &s->places[l];
    uint8_t type = loc->op;
    uint64_t address, old, operand = 0, wanted = 0;
    if (loc->at == COIL_AT_MEMORY || loc->at == COIL_AT_FRAME) {
        TRY(address_of(vm, loc, &address));
        vm->fault_address = address;
        if (address % coil_types[type].bytes) return COIL_TRAP_MISALIGNED;
    }
    if (s->opcode == COIL_OP_ATOMST) {
        TRY(coil_read_as(vm, s, 1, type, &operand));
        return coil_place_write(vm, loc, operand, type);
    }
    TRY(coil_place_read(vm, loc, type, &old));
    struct coil_operation o = {.type = type, .saturate = -1, .a = old};
    static const uint8_t same_as[] = {COIL_OP_ADD, COIL_OP_SUB, COIL_OP_AND, COIL_OP_OR,
                                      COIL_OP_XOR, COIL_OP_MAX, COIL_OP_MIN};
    switch (s->opcode) {
    case COIL_OP_ATOMLD: return coil_place_write(vm, &s->places[0], old, type);
    case COIL_OP_ATOMWAIT:
    case COIL_OP_ATOMNOTIFY: return 0; /* nobody else could change or wait for it */
    case COIL_OP_ATOMXCHG:
        TRY(coil_read_as(vm, s, (int)l + 1, type, &operand));
        TRY(coil_place_write(vm, loc, operand, type));
        break;
    case COIL_OP_ATOMCMPXCHG: {
        const struct coil_place *expected = &s->places[2];
        TRY(coil_read_as(vm, s, 2, type, &operand));
        TRY(coil_read_as(vm, s, 3, type, &wanted));
        bool same = old == operand;
        if (same)
            TRY(coil_place_write(vm, loc, wanted, type));
        else if (expected->at != COIL_AT_CONST && !(expected->ext & COIL_CONST))
            TRY(coil_place_write(vm, expected, old, type));
        coil_flags_set(vm, same ? COIL_Z : 0, COIL_Z);
        return coil_place_write(vm, &s->places[0], same, COIL_T_UNT8);
    }
    case COIL_OP_ATOMINCR:
    case COIL_OP_ATOMDECR:
        o.opcode = s->opcode == COIL_OP_ATOMINCR ? COIL_OP_INC : COIL_OP_DEC;
        coil_operate(&o);
        TRY(coil_place_write(vm, loc, o.result, type));
        break;
    default:
        TRY(coil_read_as(vm, s, (int)l + 1, type, &o.b));
        o.opcode = same_as[s->opcode - COIL_OP_ATOMADD];
        if (coil_types[type].family == COIL_F_REAL && o.opcode >= COIL_OP_AND)
            return COIL_TRAP_INVALID_INSTRUCTION;
        coil_operate(&o);
        TRY(coil_place_write(vm, loc, o.result, type));
    }
    return l ? coil_place_write(vm, &s->places[0], old, type) : 0;
}

/* ---- members and types ---- */

static uint32_t run_member(struct coil_vm *vm, const struct coil_step *s)
{
    bool put = s->opcode == COIL_OP_MEMPUT;
    struct coil_place member = s->places[put ? 0 : 1];
    uint64_t id = s->places[put ? 1 : 2].value, address;
    const struct coil_type *t = member.type;
    for (uint32_t i = 0; i < t->member_count; i++) {
        if (t->members[i].id != id) continue;
        TRY(address_of(vm, &member, &address));
        if (s->opcode == COIL_OP_MEMADDR)
            return coil_place_write(vm, &s->places[0], address + t->members[i].offset,
                                    COIL_T_UNT64);
        member.at = COIL_AT_MEMORY;
        member.type = t->members[i].type;
        member.op = member.type->op;
        member.value = t->members[i].offset;
        member.ext |= t->members[i].type->ext;
        member.base = (struct coil_term){.at = COIL_AT_CONST, .value = address};
        member.index = (struct coil_term){0};
        return put ? move(vm, s, &member, &s->places[2]) : move(vm, s, &s->places[0], &member);
    }
    return COIL_TRAP_INVALID_INSTRUCTION;
}

static uint32_t run_typing(struct coil_vm *vm, const struct coil_step *s)
{
    if (s->opcode == COIL_OP_SIZEOF) vm->v[0] = s->places[0].type->size;
    if (s->opcode == COIL_OP_ALIGNOF) vm->v[0] = s->places[0].type->align;
    return 0; /* the others were done when the program was loaded */
}

uint32_t coil_step_run(struct coil_vm *vm, const struct coil_step *s)
{
    switch ((enum coil_group)coil_ops[s->opcode].group) {
    case COIL_G_MOVE: return run_move(vm, s);
    case COIL_G_ARITH:
    case COIL_G_BITS:
    case COIL_G_COMPARE: return run_arithmetic(vm, s);
    case COIL_G_STACK: return run_stack(vm, s);
    case COIL_G_MEMORY: return run_memory(vm, s);
    case COIL_G_ATOMIC: return run_atomic(vm, s);
    case COIL_G_VECTOR: return coil_run_vector(vm, s);
    case COIL_G_MEMBER: return run_member(vm, s);
    case COIL_G_TYPING: return run_typing(vm, s);
    default: return COIL_TRAP_UNSUPPORTED;
    }
}
