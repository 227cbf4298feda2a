/* Executes moves and arithmetic with an operand that is a CINT or CUNT (COIL 7.17). wide_ops.c has
 * the meaning of the operations. */
#include "coil/vm/step/step.h"
#include "coil/vm/wide_ops.h"

static uint32_t read_number(struct coil_vm *vm, const struct coil_place *p, struct coil_number *n)
{
    uint8_t *bytes;
    uint64_t value;
    *n = (struct coil_number){.op = p->op};
    if (coil_is_scalar(p->op) || p->form == COIL_ADDR || p->form == COIL_MEASURE) {
        if (p->at == COIL_AT_REGISTER) return COIL_TRAP_INVALID_INSTRUCTION;
        if (!coil_is_scalar(p->op)) n->op = COIL_T_UNT64;
        TRY(coil_place_read(vm, p, n->op, &value));
        n->width = coil_width_of(coil_scalar(n->op));
        n->value = n->width.is_signed ? u128_signed((int64_t)value) : u128_of(value);
        return 0;
    }
    if (!coil_is_wide(p->type)) return COIL_TRAP_INVALID_INSTRUCTION;
    n->width = coil_width_of(p->type);
    if (p->form == COIL_DEF) {
        n->value = coil_extend(n->width, u128_signed((int64_t)p->value));
        return 0;
    }
    TRY(coil_place_bytes(vm, p, false, &bytes));
    size_t size = (size_t)p->type->size;
    u128 bits = u128_of(0);
    for (size_t i = 0; i < size; i++)
        bits = u128_or(u128_shl(bits, 8), u128_of(bytes[vm->m->big_endian ? i : size - 1 - i]));
    n->value = coil_extend(n->width, bits);
    return 0;
}

/* Writes a number to its destination: as a scalar to a slot, or as bytes to memory. */
static uint32_t write_number(struct coil_vm *vm, const struct coil_place *p, struct coil_number n,
                             bool in_destination)
{
    uint8_t *bytes;
    bool saturate = p->ext & COIL_SATURATE && !in_destination;
    if (p->at == COIL_AT_REGISTER) return COIL_TRAP_INVALID_INSTRUCTION;
    if (coil_is_scalar(p->op)) {
        struct coil_number out =
            coil_number_convert(n, p->op, coil_width_of(coil_scalar(p->op)), saturate);
        return coil_place_write(vm, p, u128_low(out.value), p->op);
    }
    if (!coil_is_wide(p->type)) return COIL_TRAP_INVALID_INSTRUCTION;
    n = coil_number_convert(n, p->op, coil_width_of(p->type), saturate);
    TRY(coil_place_bytes(vm, p, true, &bytes));
    size_t size = (size_t)p->type->size;
    for (size_t i = 0; i < size; i++)
        bytes[vm->m->big_endian ? size - 1 - i : i] =
            (uint8_t)u128_low(u128_shr(n.value, 8 * (unsigned)i));
    return 0;
}

uint32_t coil_move_wide(struct coil_vm *vm, const struct coil_place *to,
                        const struct coil_place *through, const struct coil_place *from)
{
    struct coil_number n;
    TRY(read_number(vm, from, &n));
    if (through)
        n = coil_number_convert(n, through->op, coil_width_of(through->type),
                                through->ext & COIL_SATURATE);
    return write_number(vm, to, n, false);
}

/* If one operand is a real number, the operation works on real numbers, and the other operands are
 * converted. */
static uint32_t operate_real(struct coil_vm *vm, const struct coil_step *s,
                             const struct coil_roles *r, uint8_t type, const struct coil_number *in)
{
    static const struct coil_width none = {0};
    struct coil_operation o = {.opcode = s->opcode, .type = type, .saturate = -1};
    o.a = u128_low(coil_number_convert(in[0], type, none, false).value);
    if (r->b >= 0) o.b = u128_low(coil_number_convert(in[1], type, none, false).value);
    if (r->c >= 0) o.c = u128_low(coil_number_convert(in[2], type, none, false).value);
    coil_operate(&o);
    struct coil_number out = {.op = type, .value = u128_of(o.result)},
                       rest = {.op = type, .value = u128_of(o.second)};
    if (r->to >= 0) TRY(write_number(vm, &s->places[r->to], out, false));
    if (s->opcode == COIL_OP_DIVMOD) TRY(write_number(vm, &s->places[1], rest, false));
    coil_flags_set(vm, s->opcode, o.flags, (uint8_t)~o.written);
    return 0;
}

static uint32_t carry_in(struct coil_vm *vm, const struct coil_step *s, bool *carry)
{
    struct coil_number n = {0};
    coil_flags_settle(vm);
    *carry = vm->flags & COIL_C;
    if (s->count < 4) return 0;
    TRY(read_number(vm, &s->places[3], &n));
    *carry = !u128_is_zero(n.value);
    return 0;
}

static bool step_wide_divides(uint8_t opcode)
{
    return opcode == COIL_OP_DIV || opcode == COIL_OP_MOD || opcode == COIL_OP_DIVMOD;
}

uint32_t coil_run_wide(struct coil_vm *vm, const struct coil_step *s, const struct coil_roles *r)
{
    struct coil_number in[3] = {{0}}, type;
    const struct coil_place *to = r->to >= 0 ? &s->places[r->to] : NULL;
    int roles[3] = {r->a, r->b, r->c};
    for (int i = 0; i < 3; i++)
        if (roles[i] >= 0) TRY(read_number(vm, &s->places[roles[i]], &in[i]));
    bool counts = coil_keeps_value_type(s->opcode);
    type = coil_number_common(in[0], r->b >= 0 && !counts ? in[1] : in[0]);
    if (r->c >= 0) type = coil_number_common(type, in[2]);
    if (!type.width.bits) return operate_real(vm, s, r, type.op, in);
    struct coil_wide_operation o = {.opcode = s->opcode, .type = type.width};
    o.a = coil_extend(type.width, in[0].value);
    /* Shift counts are unsigned, whatever their type is. */
    if (counts)
        o.b = coil_extend((struct coil_width){in[1].width.bits, false}, in[1].value);
    else
        o.b = coil_extend(type.width, in[1].value);
    o.c = coil_extend(type.width, in[2].value);
    bool chained = s->opcode == COIL_OP_ADDC || s->opcode == COIL_OP_SUBB;
    if (chained) TRY(carry_in(vm, s, &o.carry));
    struct coil_width clamp;
    if (to && to->ext & COIL_SATURATE && coil_clamps(s->opcode) &&
        (coil_is_wide(to->type) || coil_is_int(to->op))) {
        clamp = coil_width_of(coil_is_wide(to->type) ? to->type : coil_scalar(to->op));
        o.to = &clamp;
    }
    if (vm->divide_trap && step_wide_divides(s->opcode) && u128_is_zero(o.b))
        return COIL_TRAP_DIVIDE_BY_ZERO;
    coil_wide_operate(&o);
    struct coil_number out = {type.op, o.in_destination ? clamp : type.width, o.result};
    if (s->opcode == COIL_OP_BITCHK) out.width = (struct coil_width){8, false};
    if (to) TRY(write_number(vm, to, out, o.in_destination));
    out = (struct coil_number){type.op, type.width, o.second};
    if (s->opcode == COIL_OP_DIVMOD) TRY(write_number(vm, &s->places[1], out, false));
    if (chained && s->count == 4 && s->places[3].at != COIL_AT_CONST &&
        !(s->places[3].ext & COIL_CONST)) {
        out = (struct coil_number){COIL_T_UNT8, {8, false}, u128_of(o.flags & COIL_C ? 1 : 0)};
        TRY(write_number(vm, &s->places[3], out, false));
    }
    coil_flags_set(vm, s->opcode, o.flags, (uint8_t)~coil_ops[s->opcode].writes);
    return 0;
}
