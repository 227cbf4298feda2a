/* Computes the flag register (COIL 6.1). The loop of the interpreter does not compute flags; it
 * keeps the operands of the last operation of each kind. The flags are computed from the
 * operands when a branch or a stop needs them, so they are exact at every stop and cost only a
 * few stores. */
#include "coil/vm/step/step.h"

static uint8_t flags_apply(uint8_t flags, uint8_t opcode, uint8_t type, uint64_t a, uint64_t b)
{
    struct coil_operation o = {.opcode = opcode, .type = type, .saturate = -1, .a = a, .b = b};
    coil_operate(&o);
    uint8_t written = o.written & (uint8_t) ~(COIL_P | COIL_D); /* P and D are kept separately. */
    return (uint8_t)((flags & ~written) | (o.flags & written));
}

/* The integer operation is applied first: a real operation after it leaves C and P as the
 * integer operation has set them. A real operation before it has no effect on the flags any
 * more. */
uint8_t coil_flags_now(const struct coil_vm *vm)
{
    const struct coil_pending *p = &vm->pending;
    uint8_t flags = vm->flags;
    if (p->opcode) flags = flags_apply(flags, p->opcode, p->type, vm->flag_a, vm->flag_b);
    if (vm->parity_type != COIL_T_VOID) {
        uint64_t bits = vm->parity << (64 - 8 * coil_types[vm->parity_type].bytes);
        flags = (uint8_t)((flags & ~COIL_P) | (__builtin_parityll(bits) ? 0 : COIL_P));
    }
    if (p->real) flags = flags_apply(flags, p->real, COIL_T_FP64, vm->real_a, vm->real_b);
    return flags;
}

void coil_flags_put(struct coil_vm *vm, uint8_t flags)
{
    vm->flags = flags;
    vm->pending = (struct coil_pending){0};
    vm->parity_type = COIL_T_VOID;
}

void coil_flags_settle(struct coil_vm *vm)
{
    if (vm->pending.opcode || vm->pending.real || vm->parity_type != COIL_T_VOID)
        coil_flags_put(vm, coil_flags_now(vm));
}

void coil_flags_set(struct coil_vm *vm, uint8_t opcode, uint8_t flags, uint8_t kept)
{
    uint8_t written = coil_ops[opcode].writes & (uint8_t)~kept;
    if (!written) return;
    coil_flags_settle(vm);
    vm->flags = (uint8_t)((vm->flags & ~written) | (flags & written & ~coil_ops[opcode].clears));
}
