/* A block of its own for every edge from a block with several successors to one with several
 * predecessors, so that there is a place for what happens on the edge. */
#include "ssa/ssa.h"

void ssa_pass_edges(struct ssa_function *f)
{
    size_t count = f->block_count;
    for (uint32_t from = 0; from < count; from++) {
        uint32_t n;
        ssa_successors(f, from, &n);
        for (uint32_t k = 0; n > 1 && k < n && !f->failed; k++) {
            uint32_t to = ssa_successors(f, from, &n)[k];
            if (f->blocks[to].pred_count < 2) continue;
            uint32_t middle = ssa_block(f), jump = ssa_new(f, SSA_JUMP, SSA_VOID);
            if (f->failed) return;
            ssa_append(f, middle, jump);
            f->blocks[middle].to[0] = to;
            f->blocks[middle].sealed = f->blocks[middle].edge = true;
            ssa_edge(f, from, middle);
            struct ssa_block *t = &f->blocks[to];
            for (uint32_t i = 0; i < t->pred_count; i++)
                if (t->preds[i] == from) {
                    t->preds[i] = middle;
                    break;
                }
            const struct ssa_insn *end = &f->insns[f->blocks[from].last];
            if (end->op == SSA_SWITCH)
                f->pool[end->list + k] = middle;
            else
                f->blocks[from].to[k] = middle;
        }
    }
}
