/* Executes MOV, CAST and VAR, and moves from and to members of aggregates. */
#include "coil/vm/step/step.h"
#include <stdlib.h>

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
        uint64_t there, here = 0, size = d->size < v->size ? d->size : v->size;
        TRY(coil_work_bytes(vm, size));
        TRY(coil_address_of(vm, to, &there));
        if (from->at != COIL_AT_CONST) TRY(coil_address_of(vm, from, &here));
        return coil_copy(vm, there, out, here, in, size);
    }
    uint8_t lane_to = d->elem->op, lane_from = v->elem->op;
    uint64_t lanes = d->size / d->elem->size;
    uint8_t *copy = malloc((size_t)d->size);
    if (!copy) return COIL_TRAP_OUT_OF_MEMORY;
    for (uint64_t i = 0; i < lanes; i++) {
        if (coil_work_at(vm, i, lanes)) {
            free(copy);
            return COIL_PAUSE;
        }
        uint64_t value = coil_get(vm, in + i * v->elem->size, lane_from);
        coil_put(vm, copy + i * d->elem->size, lane_to,
                 coil_convert_bits(value, lane_from, lane_to, to->ext & COIL_SATURATE));
    }
    return coil_deliver(vm, to, copy, d->size);
}

static uint32_t step_move_broadcast(struct coil_vm *vm, const struct coil_place *to, uint64_t value,
                                    uint8_t from)
{
    uint8_t *out, pattern[8];
    uint64_t there;
    const struct coil_type *d = to->type;
    if (!d->elem || !coil_is_scalar(d->elem->op)) return COIL_TRAP_INVALID_INSTRUCTION;
    TRY(coil_place_bytes(vm, to, true, &out));
    value = coil_convert_bits(value, from, d->elem->op, to->ext & COIL_SATURATE);
    coil_put(vm, pattern, d->elem->op, value);
    TRY(coil_work_bytes(vm, d->size));
    TRY(coil_address_of(vm, to, &there));
    return coil_fill(vm, there, out, d->size, pattern, (uint8_t)d->elem->size);
}

uint32_t coil_move(struct coil_vm *vm, const struct coil_step *s, const struct coil_place *to,
                   const struct coil_place *from)
{
    uint64_t value;
    if (coil_is_wide(to->type) || coil_is_wide(from->type))
        return coil_move_wide(vm, to, NULL, from);
    if (coil_place_scalar(from)) {
        uint8_t type = from->at == COIL_AT_REGISTER ? coil_step_type(s) : from->op;
        TRY(coil_place_read(vm, from, type, &value));
        return coil_place_scalar(to) ? coil_place_write(vm, to, value, type)
                                     : step_move_broadcast(vm, to, value, type);
    }
    if (coil_place_scalar(to)) return COIL_TRAP_INVALID_INSTRUCTION;
    return move_lanes(vm, to, from);
}

static uint32_t step_move_clear(struct coil_vm *vm, const struct coil_place *p)
{
    uint8_t *bytes, none = 0;
    uint64_t there;
    if (p->at == COIL_AT_SLOT) {
        vm->slots[vm->fp + p->slot] = 0;
        return 0;
    }
    TRY(coil_place_bytes(vm, p, true, &bytes));
    TRY(coil_work_bytes(vm, p->type->size));
    TRY(coil_address_of(vm, p, &there));
    return coil_fill(vm, there, bytes, p->type->size, &none, 1);
}

uint32_t coil_run_move(struct coil_vm *vm, const struct coil_step *s)
{
    uint64_t value;
    if (s->opcode == COIL_OP_VAR) {
        uint32_t trap = step_move_clear(vm, &s->places[1]);
        vm->bulk.first = trap && s->count == 3;
        if (trap) return trap;
        return s->count == 3 ? coil_move(vm, s, &s->places[1], &s->places[2]) : 0;
    }
    if (s->opcode == COIL_OP_CAST && s->count == 3) {
        const struct coil_place *through = &s->places[1];
        if (coil_is_wide(through->type) ||
            (coil_is_scalar(through->op) &&
             (coil_is_wide(s->places[0].type) || coil_is_wide(s->places[2].type))))
            return coil_move_wide(vm, &s->places[0], through, &s->places[2]);
        if (!coil_is_scalar(through->op) || !coil_place_scalar(&s->places[2]))
            return coil_move(vm, s, &s->places[0], &s->places[2]);
        uint8_t type = coil_type_at(s, 2);
        TRY(coil_place_read(vm, &s->places[2], type, &value));
        value = coil_convert_bits(value, type, through->op, through->ext & COIL_SATURATE);
        return coil_place_write(vm, &s->places[0], value, through->op);
    }
    return coil_move(vm, s, &s->places[0], &s->places[1]);
}

uint32_t coil_run_member(struct coil_vm *vm, const struct coil_step *s)
{
    bool put = s->opcode == COIL_OP_MEMPUT;
    struct coil_place member = s->places[put ? 0 : 1];
    uint64_t id = s->places[put ? 1 : 2].value, address;
    const struct coil_type *t = member.type;
    const struct coil_member *found = coil_type_member(t, id);
    if (!found) return COIL_TRAP_INVALID_INSTRUCTION;
    TRY(coil_address_of(vm, &member, &address));
    if (s->opcode == COIL_OP_MEMADDR)
        return coil_place_write(vm, &s->places[0], address + found->offset, COIL_T_UNT64);
    member.at = COIL_AT_MEMORY;
    member.type = found->type;
    member.op = found->type->op;
    member.value = found->offset;
    member.ext |= found->type->ext;
    member.base = (struct coil_term){.at = COIL_AT_CONST, .value = address};
    member.index = (struct coil_term){0};
    return put ? coil_move(vm, s, &member, &s->places[2])
               : coil_move(vm, s, &s->places[0], &member);
}
