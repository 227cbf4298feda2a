/* Executes one instruction in its general form (COIL 7), with operands of any form and type. The
 * interpreter has cells for the frequent cases, but this file defines the meaning of all
 * instructions. It also tells which slots and registers an instruction reads and writes. */
#include "coil/vm/step/step.h"

static uint32_t run_typing(struct coil_vm *vm, const struct coil_step *s)
{
    if (s->opcode == COIL_OP_SIZEOF) vm->v[0] = s->places[0].type->size;
    if (s->opcode == COIL_OP_ALIGNOF) vm->v[0] = s->places[0].type->align;
    return 0; /* The other instructions have no effect at run time. */
}

/* Continues after an interrupt in a long write: finishes the write, then does what remains of
 * the instruction. */
static uint32_t bulk_go_on(struct coil_vm *vm, const struct coil_step *s)
{
    TRY(coil_bulk_run(vm));
    if (s->opcode == COIL_OP_ALLOC)
        return coil_place_write(vm, &s->places[0], vm->bulk.to, COIL_T_UNT64);
    bool first = vm->bulk.first;
    vm->bulk.first = false;
    return first ? coil_move(vm, s, &s->places[1], &s->places[2]) : 0;
}

uint32_t coil_step_run(struct coil_vm *vm, const struct coil_step *s)
{
    if (vm->bulk.kind) return bulk_go_on(vm, s);
    switch ((enum coil_group)coil_ops[s->opcode].group) {
    case COIL_G_MOVE: return coil_run_move(vm, s);
    case COIL_G_ARITH:
    case COIL_G_BITS:
    case COIL_G_COMPARE: return coil_run_arith(vm, s);
    case COIL_G_STACK: return coil_run_stack(vm, s);
    case COIL_G_MEMORY: return coil_run_memory(vm, s);
    case COIL_G_ATOMIC: return coil_run_atomic(vm, s);
    case COIL_G_VECTOR: return coil_run_vector(vm, s);
    case COIL_G_MEMBER: return coil_run_member(vm, s);
    case COIL_G_TYPING: return run_typing(vm, s);
    default: return COIL_TRAP_UNSUPPORTED;
    }
}

static void touch_place(const struct coil_place *p, bool read, bool write, coil_touch_fn *fn,
                        void *user)
{
    if (p->at == COIL_AT_SLOT || p->at == COIL_AT_REGISTER) {
        if (read) fn(user, p->at, p->slot, false);
        if (write) fn(user, p->at, p->slot, true);
        return;
    }
    const struct coil_term *terms[] = {&p->base, &p->index};
    for (int i = 0; p->at == COIL_AT_MEMORY && i < 2; i++)
        if (terms[i]->at == COIL_AT_SLOT || terms[i]->at == COIL_AT_REGISTER)
            fn(user, terms[i]->at, terms[i]->slot, false);
}

static void touch_arith(const struct coil_step *s, coil_touch_fn *fn, void *user)
{
    struct coil_roles r = coil_roles_of(s);
    for (int i = 0; i < s->count; i++) {
        bool read = i == r.a || i == r.b || i == r.c, write = i == r.to;
        if (s->opcode == COIL_OP_DIVMOD && i == 1) write = true;
        if (i == 3 && (s->opcode == COIL_OP_ADDC || s->opcode == COIL_OP_SUBB)) read = write = true;
        touch_place(&s->places[i], read, write, fn, user);
    }
}

void coil_step_touches(const struct coil_step *s, coil_touch_fn *fn, void *user)
{
    uint8_t group = coil_ops[s->opcode].group;
    if (group == COIL_G_ARITH || group == COIL_G_BITS || group == COIL_G_COMPARE) {
        touch_arith(s, fn, user);
        return;
    }
    if (s->opcode == COIL_OP_VAR) {
        touch_place(&s->places[1], false, true, fn, user);
        if (s->count == 3) touch_place(&s->places[2], true, false, fn, user);
        return;
    }
    if (s->opcode == COIL_OP_SIZEOF || s->opcode == COIL_OP_ALIGNOF)
        fn(user, COIL_AT_REGISTER, 0, true);
    if (s->opcode == COIL_OP_VENDOR) {
        for (unsigned i = 0; i < s->count; i++) touch_place(&s->places[i], true, i == 0, fn, user);
        return;
    }
    for (unsigned i = 0; i < s->count; i++) {
        char letter = s->form ? s->form[i] : 'B';
        bool both = letter == 'L' || letter == 'B' || s->opcode == COIL_OP_XCHG;
        bool write = letter == 'W' || both;
        touch_place(&s->places[i], !write || both, write, fn, user);
    }
}
