/* Tells a profiler which instructions of the program are running. The profiler asks from a
 * signal handler that has interrupted compiled code. */
#include "base/array.h"
#include "core/structure/code_map.h"
#include "pvm/jit/jit.h"

/* READ_MAX is the number of bytes of code at the start of functions that are read for one
 * sample. This limits the time of a sample. */
enum { READ_MAX = 1 << 16 };

/* Returns the offset of an address in compiled code, or UINT32_MAX when no instruction has this
 * address. */
static uint32_t address_code_offset(const struct pvm_native *n, uint64_t address)
{
    uint64_t at = address - (uint64_t)(uintptr_t)n->code;
    uint64_t end = n->cold_start + (uint64_t)PVM_COLD_BYTES * n->cold_count;
    return at >= n->body && at < end ? (uint32_t)at : UINT32_MAX;
}

/* Returns the offset of the code that called a shared piece of code. Such pieces have up to two
 * words on the stack. */
static uint32_t sample_caller(const struct pvm_native *n, const struct native_state *at)
{
    const uint64_t *stack = (const uint64_t *)(uintptr_t)at->regs[RSP];
    uint32_t found = UINT32_MAX;
    for (int i = 0; i < 3 && found == UINT32_MAX; i++) found = address_code_offset(n, stack[i] - 1);
    return found;
}

/* Returns the innermost frame. Outside of compiled code, in a host call or a step of the
 * interpreter, the machine knows its pc. */
static struct pvm_frame sample_innermost(const struct pvm_vm *vm, const struct native_state *at)
{
    const struct pvm_native *n = vm->cells->native;
    uint64_t code = (uint64_t)(uintptr_t)n->code;
    struct pvm_frame f = {vm->state->pc, vm->state->regs[PVM_SP], vm->state->regs[PVM_RA]};
    uint32_t offset = address_code_offset(n, at->pc);
    bool shared = at->pc - code >= n->exits_end && at->pc - code < n->body;
    if (offset == UINT32_MAX && shared) offset = sample_caller(n, at);
    if (offset == UINT32_MAX) return f;
    f = (struct pvm_frame){pvm_native_pc(n, offset), at->regs[host_reg(PVM_SP)],
                           at->regs[host_reg(PVM_RA)]};
    if (vm->w32) f.sp = (uint32_t)f.sp, f.ra = (uint32_t)f.ra;
    return f;
}

size_t pvm_jit_sample(const penta_vm *base, const struct native_state *at,
                      const struct code_map *map, uint64_t *pcs, size_t max)
{
    const struct pvm_vm *vm = pvm_vm_const(base);
    struct pvm_frame f = sample_innermost(vm, at);
    uint64_t read = 0;
    size_t n = 0, i;
    while (n < max) {
        pcs[n++] = f.pc;
        if (n == max || !base->module) break;
        ARRAY_SEARCH(i, 0, map->function_count, map->functions[i].from > f.pc);
        if (!i) break;
        uint64_t start = map->functions[i - 1].from;
        read += f.pc - start;
        if (read > READ_MAX || !pvm_vm_unwind(vm, (uint32_t)start, n == 1, &f)) break;
    }
    return n;
}
