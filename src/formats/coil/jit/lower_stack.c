/* Compiles PUSH and POP of scalars. The machine has a word for the top of the data stack. The
 * interpreter handles an access beyond the stack, which traps. */
#include "coil/jit/jit.h"
#include "coil/vm/step/step.h"

static struct ssa_address top_word(struct coil_lower *l)
{
    return (struct ssa_address){.base = coil_lower_fixed(l, SSA_CONTEXT),
                                .disp = (int64_t)offsetof(struct coil_vm, sp)};
}

static void lower_stack_guard(struct coil_lower *l, enum ssa_cond cond, uint32_t top,
                              uint64_t bound)
{
    uint32_t exit = coil_lower_exit(l, COIL_EXIT_LEAVE);
    uint32_t check =
        ssa_compare(l->f, SSA_GUARD, cond, false, top, ssa_const(l->f, (int64_t)bound));
    if (!check) return;
    l->f->insns[check].type = SSA_VOID;
    l->f->insns[check].exit = exit;
}

static struct ssa_address memory_at(struct coil_lower *l, uint32_t top, int64_t offset)
{
    uint32_t base = ssa_op2(l->f, SSA_ADD, SSA_INT, false, coil_lower_fixed(l, SSA_MEMORY), top);
    return (struct ssa_address){.base = base, .disp = offset};
}

static void set_top(struct coil_lower *l, uint32_t top, int64_t change)
{
    uint32_t now = ssa_op2(l->f, SSA_ADD, SSA_INT, false, top, ssa_const(l->f, change));
    ssa_store(l->f, SSA_X64, top_word(l), now);
}

/* Every scalar takes 8 bytes of the data stack; unused upper bytes are zero. */
bool coil_lower_stack(struct coil_lower *l, const struct coil_step *s)
{
    struct ssa_function *f = l->f;
    const struct coil_place *p = &s->places[0];
    const struct coil_region *stack = l->vm->stack;
    uint8_t type = p->at == COIL_AT_REGISTER ? COIL_T_INT64 : p->op;
    enum ssa_mem mem = coil_lower_mem(type);
    if (l->native || !coil_is_scalar(type) || stack->size < 16) return false;
    uint32_t top = ssa_load(f, SSA_X64, top_word(l));
    if (s->opcode == COIL_OP_POP) {
        lower_stack_guard(l, SSA_BE, top, stack->base + stack->size - 8);
        if (!coil_lower_write(l, p, ssa_load(f, mem, memory_at(l, top, 0)), type)) return false;
        set_top(l, top, 8);
        return true;
    }
    lower_stack_guard(l, SSA_AE, top, stack->base + 8);
    uint32_t value = coil_lower_place(l, p, type, type);
    if (!value) return false;
    if (coil_types[type].bytes < 8) ssa_store(f, SSA_X64, memory_at(l, top, -8), ssa_const(f, 0));
    ssa_store(f, mem, memory_at(l, top, -8), value);
    set_top(l, top, -8);
    return true;
}
