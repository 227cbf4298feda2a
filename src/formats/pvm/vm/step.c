/* Has the step engine, which runs one instruction at a time from the code bytes. It does single
 * steps, the last instructions before fuel runs out, and instructions that are too rare for a
 * handler. It shares with the threaded engine only the meaning of instructions (ops.h), so that
 * tests can compare the two. */
#include "pvm/vm/ops.h"
#include "pvm/vm/vm.h"

struct step {
    struct pvm_vm *vm;
    uint64_t *r;
    struct pvm_insn in;
};

static enum pvm_outcome step_trap(struct pvm_vm *vm, enum pvm_trap why)
{
    vm->trap = why;
    return PVM_STEP_TRAP;
}

static enum pvm_outcome step_advance(struct step *s)
{
    const struct pvm_code *code = &s->vm->cells->code;
    uint32_t pc = s->vm->state->pc += s->in.length;
    return code->doc && pvm_is_target(code, pc) ? PVM_ENTERED : PVM_STEPPED;
}

static enum pvm_outcome step_enter(struct step *s, uint32_t pc)
{
    s->vm->state->pc = pc;
    return PVM_ENTERED;
}

static enum pvm_outcome step_jump(struct step *s)
{
    if (!pvm_is_target(&s->vm->cells->code, s->in.target)) return step_trap(s->vm, PVM_TRAP_JUMP);
    return step_enter(s, s->in.target);
}

static enum pvm_outcome step_branch(struct step *s, bool taken)
{
    const struct pvm_cells *p = s->vm->cells;
    uint32_t next = s->in.pc + s->in.length;
    if (!p->profile->late_branches &&
        (!pvm_is_target(&p->code, s->in.target) || !pvm_is_target(&p->code, next)))
        return step_trap(s->vm, PVM_TRAP_JUMP);
    return taken ? step_jump(s) : step_enter(s, next);
}

static enum pvm_outcome jump_dynamic(struct step *s, uint32_t address)
{
    const struct pvm_code *code = &s->vm->cells->code;
    uint64_t pc;
    if (address == PVM_RETURN_ADDRESS) return PVM_STEP_HALT;
    if (!address || address & 1 || address / 2 > s->vm->cells->table_count ||
        !pvm_table_entry(code, address / 2 - 1, &pc) || pc >= code->bytes.size ||
        !pvm_is_target(code, (uint32_t)pc))
        return step_trap(s->vm, PVM_TRAP_JUMP);
    return step_enter(s, (uint32_t)pc);
}

/* Tells whether the failed access means that the stack is too small. The access is in the 64 KiB
 * below the stack, or between the stack and a stack pointer that is farther below, as with one
 * large frame. */
static bool below_stack(const struct pvm_vm *vm)
{
    const uint32_t guard = 1 << 16;
    uint32_t bottom = vm->layout.stack, sp = (uint32_t)vm->state->regs[PVM_SP];
    uint32_t low = bottom - guard, at = vm->memory.fault;
    bool left = sp < low && sp >= vm->layout.heap_base + vm->heap_size;
    if (left) low = sp & ~(vm->memory.page - 1);
    return vm->layout.stack_length && at >= low && at < bottom;
}

static enum pvm_outcome step_fault(struct pvm_vm *vm)
{
    bool reported = vm->paging || vm->cells->profile->faults;
    if (reported && vm->memory.fault >= vm->cells->profile->trap_below) return PVM_STEP_FAULT;
    return step_trap(vm, below_stack(vm) ? PVM_TRAP_STACK : PVM_TRAP_ACCESS);
}

static enum pvm_outcome step_load(struct step *s, uint64_t address, unsigned n, uint64_t *value)
{
    if (!pvm_memory_load(&s->vm->memory, (uint32_t)address, n, s->vm->state->wraps, value))
        return step_fault(s->vm);
    return PVM_STEPPED;
}

static enum pvm_outcome step_store(struct step *s, uint64_t address, unsigned n, uint64_t value)
{
    if (!pvm_memory_store(&s->vm->memory, (uint32_t)address, n, s->vm->state->wraps, value))
        return step_fault(s->vm);
    return step_advance(s);
}

/* Runs memset (PVM 5.7), which stores bytes until gas or memory ends; a0 and a2 hold its
 * progress. The function works in pieces, so that an interrupt between two pieces can end it in
 * time. In lock step (PVM 21.7) every step is one piece, on both machines, and the code that
 * runs both machines looks at the interrupt flag. */
static enum pvm_outcome memset_step(struct step *s)
{
    enum { PIECE = 1 << 20 };
    struct pvm_vm *vm = s->vm;
    bool lock_step = vm->state->interrupt != &vm->base.interrupt;
    for (;;) {
        uint64_t count = (uint32_t)s->r[PVM_A2], part = count < PIECE ? count : PIECE;
        if (!count) break;
        if (vm->metered && part > (uint64_t)vm->state->gas) part = (uint64_t)vm->state->gas;
        if (!part) return PVM_STEP_GAS;
        if (vm_work(&vm->base, poll_bytes(part)) && !lock_step) return PVM_STEP_PAUSE;
        uint64_t done =
            pvm_memory_fill(&vm->memory, (uint32_t)s->r[PVM_A0], (uint8_t)s->r[PVM_A1], part);
        uint64_t address = (uint32_t)s->r[PVM_A0] + done, left = count - done;
        s->r[PVM_A0] = vm->w32 ? op_extend32(address) : (uint32_t)address;
        s->r[PVM_A2] = vm->w32 ? op_extend32(left) : left;
        if (vm->metered) vm->state->gas -= (int64_t)done;
        if (done < part) return step_fault(vm);
        /* The instruction ends now, or there is no more gas. */
        if (!left || part < PIECE || !lock_step) continue;
        if (!vm->twin) atomic_store_explicit(&vm->base.interrupt, true, memory_order_relaxed);
        return PVM_STEP_PAUSE; /* This ends the run of the machine that follows the other one. */
    }
    s->r[PVM_A2] = 0;
    return step_advance(s);
}

/* clang-format off */
#define OPERANDS                                                                                   \
    uint64_t a = s.r[s.in.a], b = s.r[s.in.b], x = s.in.imm1;                                      \
    (void)a, (void)b, (void)x
#define DO_SET3(e) { OPERANDS; s.r[s.in.d] = (uint64_t)(e); return step_advance(&s); }
#define DO_SET2I(e) { OPERANDS; s.r[s.in.a] = (uint64_t)(e); return step_advance(&s); }
#define DO_SET2(e) DO_SET3(e)
#define DO_CMOV3(e) { OPERANDS; if (e) s.r[s.in.d] = a; return step_advance(&s); }
#define DO_CMOVI(e) { OPERANDS; if (e) s.r[s.in.a] = x; return step_advance(&s); }
#define DO_BRANCH2(e) { OPERANDS; return step_branch(&s, e); }
#define DO_BRANCHI(e) DO_BRANCH2(e)
#define LOAD_FROM(type, address)                                                                   \
    {                                                                                              \
        uint64_t value;                                                                            \
        enum pvm_outcome outcome = step_load(&s, address, sizeof(type), &value);                        \
        if (outcome != PVM_STEPPED) return outcome;                                                \
        s.r[s.in.a] = (uint64_t)(type)value;                                                       \
        return step_advance(&s);                                                                        \
    }
#define DO_LOADX(type) LOAD_FROM(type, s.in.imm1)
#define DO_LOAD(type) LOAD_FROM(type, s.r[s.in.b] + s.in.imm1)
#define DO_STOREX(type) return step_store(&s, s.in.imm1, sizeof(type), s.r[s.in.a]);
#define DO_STORE(type) return step_store(&s, s.r[s.in.b] + s.in.imm1, sizeof(type), s.r[s.in.a]);
#define DO_STOREIX(type) return step_store(&s, s.in.imm1, sizeof(type), s.in.imm2);
#define DO_STOREI(type) return step_store(&s, s.r[s.in.a] + s.in.imm1, sizeof(type), s.in.imm2);
#define DO_LOADI(e) { s.r[s.in.a] = s.in.imm1; return step_advance(&s); }
#define DO_LOADI64(e) DO_LOADI(e)
#define DO_NOTHING(e) return step_advance(&s);
#define DO_TRAP(e) return step_trap(vm, PVM_TRAP_TRAP);
#define DO_JUMP(e) return step_jump(&s);
#define DO_LOADI_JUMP(e) { s.r[s.in.a] = s.in.imm1; return step_jump(&s); }
#define DO_JUMP_DYNAMIC(e) return jump_dynamic(&s, (uint32_t)(s.r[s.in.a] + s.in.imm1));
#define DO_LOADI_JUMP_DYNAMIC(e)                                                                   \
    {                                                                                              \
        uint32_t address = (uint32_t)(s.r[s.in.b] + s.in.imm2);                                    \
        s.r[s.in.a] = s.in.imm1;                                                                   \
        return jump_dynamic(&s, address);                                                          \
    }
#define DO_ECALLI(e)                                                                               \
    {                                                                                              \
        vm->host_number = (uint32_t)s.in.imm1;                                                     \
        return PVM_STEP_HOST;                                                                      \
    }
#define DO_FALL(e)                                                                                 \
    {                                                                                              \
        uint64_t next = (uint64_t)s.in.pc + s.in.length;                                           \
        if (next >= vm->cells->code.bytes.size && !vm->cells->profile->fall_off)                   \
            return step_trap(vm, PVM_TRAP_TRAP);                                                        \
        return step_enter(&s, (uint32_t)next);                                                          \
    }
#define DO_MEMSET(e) return memset_step(&s);
#define DO_SBRK(e)                                                                                 \
    {                                                                                              \
        s.r[s.in.d] = pvm_vm_sbrk(vm, vm->w32 ? (uint32_t)s.r[s.in.a] : s.r[s.in.a]);              \
        return step_advance(&s);                                                                        \
    }
/* clang-format on */

enum pvm_outcome pvm_step(struct pvm_vm *vm)
{
    struct step s = {.vm = vm, .r = vm->state->regs};
    const bool W32 = vm->w32;
    pvm_decode(&vm->cells->code, vm->state->pc, &s.in);
    switch ((enum pvm_op)s.in.op) {
#define MAKE(name, kind, class, expression, ...)                                                   \
    case PVM_OP_##name:                                                                            \
        DO_##kind(expression)
#define OP(name, ...) PVM_ROW(MAKE, name, 0)
#include "pvm/isa.def"
    case PVM_OP_invalid:
    case PVM_OPS: break;
    }
    return step_trap(vm, PVM_TRAP_TRAP);
}
