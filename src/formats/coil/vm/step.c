/* One instruction in its general form (COIL 7): operands anywhere, of any type. The
 * interpreter's loop has cells for the frequent cases; this is the meaning of all of them. */
#include "coil/vm/step.h"

static uint32_t run_typing(struct coil_vm *vm, const struct coil_step *s)
{
    if (s->opcode == COIL_OP_SIZEOF) vm->v[0] = s->places[0].type->size;
    if (s->opcode == COIL_OP_ALIGNOF) vm->v[0] = s->places[0].type->align;
    return 0; /* the others were done when the program was loaded */
}

uint32_t coil_step_run(struct coil_vm *vm, const struct coil_step *s)
{
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
