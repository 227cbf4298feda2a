/* Reads and writes the operands of instructions that are executed as steps: constants, slots,
 * registers and memory. */
#include "coil/vm/operands.h"
#include <stdlib.h>

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

uint32_t coil_address_of(struct coil_vm *vm, const struct coil_place *p, uint64_t *address)
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

/* Finds the bytes of a value in memory, or of a constant that is not a scalar. */
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
    TRY(coil_address_of(vm, p, &address));
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
        /* The integer type of the operand may differ from that of the slot if both have the same
         * width. The slot keeps its own type. */
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

/* Returns the type that operand i has in the operation. */
uint8_t coil_type_at(const struct coil_step *s, unsigned i)
{
    return s->places[i].at == COIL_AT_REGISTER ? coil_step_type(s) : s->places[i].op;
}

uint32_t coil_read_own(struct coil_vm *vm, const struct coil_step *s, unsigned i, uint64_t *value)
{
    return coil_place_read(vm, &s->places[i], coil_type_at(s, i), value);
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

/* Reads a shift count or a bit number, which is an unsigned value of its own width. */
uint32_t coil_read_count(struct coil_vm *vm, const struct coil_step *s, unsigned i, uint64_t *value)
{
    uint8_t type = s->places[i].at == COIL_AT_REGISTER ? COIL_T_UNT64 : s->places[i].op;
    TRY(coil_place_read(vm, &s->places[i], type, value));
    unsigned bits = 8u * coil_types[type].bytes;
    if (bits < 64) *value &= (UINT64_C(1) << bits) - 1;
    return 0;
}

uint8_t coil_lane_of(const struct coil_place *p)
{
    return p->type && p->type->elem && coil_is_scalar(p->type->elem->op) ? p->type->elem->op
                                                                         : COIL_T_VOID;
}
