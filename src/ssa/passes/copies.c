/* Copies and needless phis: a phi whose arguments are all one value, or itself, is that value. */
#include "ssa/ssa.h"

/* The only other value of the phi, or 0. */
static uint32_t only_value(struct ssa_function *f, uint32_t phi)
{
    uint32_t only = 0;
    const struct ssa_insn *in = &f->insns[phi];
    for (uint32_t i = 0; i < in->count; i++) {
        uint32_t value = ssa_origin(f, f->pool[in->list + i]);
        if (value == phi || value == only) continue;
        if (only) return 0;
        only = value;
    }
    return only;
}

void ssa_pass_copies(struct ssa_function *f)
{
    for (bool again = true; again;) {
        again = false;
        for (size_t b = 0; b < f->block_count; b++)
            for (uint32_t i = f->blocks[b].first; i; i = f->insns[i].next) {
                struct ssa_insn *in = &f->insns[i];
                if (in->op != SSA_PHI && in->op != SSA_COPY) break;
                uint32_t value = in->op == SSA_PHI ? only_value(f, i) : 0;
                if (!value) continue;
                in->op = SSA_COPY;
                in->arg[0] = value;
                in->count = 0;
                again = true;
            }
    }
    for (size_t b = 0; b < f->block_count; b++)
        for (uint32_t i = f->blocks[b].first, next; i; i = next) {
            next = f->insns[i].next;
            if (f->insns[i].op == SSA_COPY)
                ssa_remove(f, i);
            else
                ssa_uses(f, i, ssa_to_origin, f);
        }
}
