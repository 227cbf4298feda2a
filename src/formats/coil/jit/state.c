/* From native code to the machine: the state at an exit, of the function that asked and of those that
 * called it. */
#include "coil/jit/jit.h"
#include "base/array.h"
#include "coil/vm/step.h"

const struct ssa_site *coil_jit_site(const struct coil_jit *j, uint64_t address)
{
    uint32_t at = (uint32_t)(address - (uint64_t)(uintptr_t)j->code);
    size_t low = 0, high = j->site_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (j->sites[middle].native < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low < j->site_count && j->sites[low].native == at ? &j->sites[low] : NULL;
}

/* frame: that of the function. Registers are those of the innermost one. */
uint64_t coil_jit_value(const struct coil_jit *j, const struct ssa_location *at, uint64_t frame)
{
    uint64_t value;
    switch (at->where) {
    case SSA_AT_CONST: return (uint64_t)at->at;
    case SSA_AT_REGISTER: return j->gpr[at->at];
    case SSA_AT_FLOAT_REGISTER: return j->xmm[at->at][0];
    default: memcpy(&value, (const uint8_t *)(uintptr_t)frame + at->at, 8); return value;
    }
}

static void set_flags(struct coil_jit *j, uint64_t operation, uint64_t a, uint64_t b)
{
    struct coil_operation o = {.opcode = (uint8_t)(operation >> 8),
                               .type = (uint8_t)operation,
                               .saturate = -1,
                               .a = a,
                               .b = b};
    coil_operate(&o);
    coil_flags_set(&j->vm, o.opcode, o.flags, (uint8_t)~o.written);
}

/* One function's part of the state. known: registers that an inner function has set. */
static void settle_frame(struct coil_jit *j, const struct ssa_site *s, uint64_t frame,
                         uint64_t *slots, uint32_t *known)
{
    uint64_t operation = 0, a = 0, b = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        const struct ssa_location *at = &j->locations[s->first + i];
        uint64_t value = coil_jit_value(j, at, frame);
        if (at->key < COIL_KEY_REGISTER) {
            slots[at->key] = coil_canon(j->slot_types[j->slot_first[s->function] + at->key], value);
        } else if (at->key < COIL_KEY_FLAGS) {
            uint32_t r = at->key - COIL_KEY_REGISTER;
            if (!(*known >> r & 1)) j->vm.v[r] = value;
            *known |= 1u << r;
        } else if (at->key == COIL_KEY_FLAGS) {
            operation = value;
        } else if (at->key == COIL_KEY_FLAG_A) {
            a = value;
        } else if (at->key == COIL_KEY_FLAG_B) {
            b = value;
        }
    }
    if (operation) {
        bool single = (uint8_t)operation == COIL_T_FP32;
        set_flags(j, operation, single ? (uint32_t)a : a, single ? (uint32_t)b : b);
    }
}

/* For who looks at the machine: slots that the function here still has. */
static void note_kept(struct coil_jit *j, const struct ssa_site *here)
{
    memset(j->kept, 0, j->vm.program.functions[here->function].slots);
    for (uint32_t i = 0; i < here->count; i++) {
        uint32_t key = j->locations[here->first + i].key;
        if (key < COIL_KEY_REGISTER) j->kept[key] = 1;
    }
    j->vm.kept = j->kept;
    j->vm.kept_cell = here->position;
}

size_t coil_jit_depth(const struct coil_jit *j)
{
    uint64_t top = (uint64_t)(uintptr_t)(j->stack_memory + j->stack_bytes);
    return (top - j->stack) / 8 - 2; /* without the return to the entry stub, and the exit's own */
}

/* The stack has, from its top: the return to the entry stub, one return address for each call, the
 * return address of the exit. */
bool coil_jit_settle(struct coil_jit *j)
{
    struct coil_vm *vm = &j->vm;
    const uint64_t *stack = (const uint64_t *)(uintptr_t)j->stack;
    size_t calls = coil_jit_depth(j);
    const struct ssa_site *here = coil_jit_site(j, stack[0]);
    /* From the outside in: positions of frames. */
    uint64_t fp = j->base_fp;
    if (!array_reserve(&vm->frames, &vm->frame_capacity, j->base_depth + calls + 1,
                       sizeof *vm->frames))
        return false;
    for (size_t i = 0; i < calls; i++) {
        const struct ssa_site *s = coil_jit_site(j, stack[calls - i]);
        vm->frames[j->base_depth + i] = (struct coil_frame){s->position + 1, s->function};
        fp += vm->program.functions[s->function].slots;
    }
    size_t need = fp + vm->program.functions[here->function].slots;
    if (!array_reserve(&vm->slots, &vm->slot_capacity, need, sizeof *vm->slots)) return false;
    memset(vm->slots + j->base_fp, 0, (need - j->base_fp) * sizeof *vm->slots);
    vm->fp = fp;
    vm->depth = j->base_depth + calls;
    vm->function = here->function;
    vm->pc = here->position;
    /* From the inside out: values; what an inner function holds is newer. */
    uint64_t frame = j->frame;
    uint32_t known = 0;
    settle_frame(j, here, frame, vm->slots + fp, &known);
    note_kept(j, here);
    for (size_t i = 0; i < calls; i++) {
        const struct ssa_site *s = coil_jit_site(j, stack[i + 1]);
        frame -= j->frames[s->function];
        fp -= vm->program.functions[s->function].slots;
        settle_frame(j, s, frame, vm->slots + fp, &known);
    }
    return true;
}
