/* From places in compiled code back to the program. */
#include "pvm/jit.h"

/* The offset of the last instruction at or before pc that has one, and which that is. */
static uint32_t offset_before(const struct pvm_native *n, uint32_t *pc)
{
    while (*pc && !n->offsets[*pc]) --*pc;
    return n->offsets[*pc];
}

/* The last instruction that starts at or before `at`, in program order. */
static uint32_t instruction_at(const struct pvm_native *n, uint32_t at)
{
    uint32_t low = 0, high = n->size + 1;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2, pc = middle;
        if (offset_before(n, &pc) <= at) low = middle;
        else high = middle;
    }
    offset_before(n, &low);
    return low;
}

/* The copy that `at` is in, which is the code of the jump at pc; NULL: none. */
static const struct pvm_copy *copy_at(const struct pvm_native *n, uint32_t at, uint32_t pc)
{
    uint32_t low = 0, high = n->copy_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (n->copies[middle].native <= at) low = middle + 1;
        else high = middle;
    }
    return low && n->copies[low - 1].native >= n->offsets[pc] ? &n->copies[low - 1] : NULL;
}

/* The block behind pc, if `at` is in its charge; else pc. */
static uint32_t skip_charge(const struct pvm_native *n, uint32_t at, uint32_t pc)
{
    uint32_t next = pc + 1;
    while (next <= n->size && !n->offsets[next]) next++;
    bool inside = next <= n->size && pvm_bit(n->block_starts, next) &&
                  at >= n->offsets[next] - n->charge_size;
    return inside ? next : pc;
}

uint32_t pvm_native_pc(const struct pvm_native *n, uint32_t at)
{
    if (at >= n->cold_start) return n->cold[(at - n->cold_start) / PVM_COLD_BYTES].pc;
    uint32_t pc = instruction_at(n, at), next = skip_charge(n, at, pc);
    const struct pvm_copy *copy = next == pc ? copy_at(n, at, pc) : NULL;
    return copy ? copy->pc : next;
}

bool pvm_native_between(const struct pvm_native *n, uint32_t at, uint32_t *pc, bool *paid)
{
    if (at < n->body || at >= n->cold_start) return false;
    uint32_t before = instruction_at(n, at);
    *pc = skip_charge(n, at, before);
    if (*pc == before && copy_at(n, at, before)) return false;
    *paid = n->offsets[*pc] == at;
    return *paid || (pvm_bit(n->block_starts, *pc) && n->offsets[*pc] - n->charge_size == at);
}
