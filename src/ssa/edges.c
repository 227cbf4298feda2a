/* Inserts a block on every edge that leads from a block with several successors to a block with
 * several predecessors (a critical edge), so that there is a place for the moves of that edge. */
#include "ssa/ssa.h"

uint32_t ssa_split_edge(struct ssa_function *f, uint32_t to, uint32_t which)
{
    uint32_t from = f->blocks[to].preds[which], n;
    uint32_t middle = ssa_block(f), jump = ssa_new(f, SSA_JUMP, SSA_VOID);
    if (f->failed) return 0;
    ssa_append(f, middle, jump);
    f->blocks[middle].to[0] = to;
    f->blocks[middle].sealed = f->blocks[middle].edge = true;
    f->blocks[middle].cold = f->blocks[to].cold && f->blocks[from].cold;
    ssa_edge(f, from, middle);
    f->blocks[to].preds[which] = middle;
    const struct ssa_insn *end = &f->insns[f->blocks[from].last];
    ssa_successors(f, from, &n);
    uint32_t *targets = end->op == SSA_SWITCH ? f->pool + end->list : f->blocks[from].to;
    /* A SWITCH may have several edges to this block; only one of them is changed here. */
    for (uint32_t k = 0; k < n; k++)
        if (targets[k] == to) {
            targets[k] = middle;
            break;
        }
    return middle;
}

void ssa_pass_edges(struct ssa_function *f)
{
    size_t count = f->block_count;
    for (uint32_t to = 0; to < count; to++)
        for (uint32_t i = 0; f->blocks[to].pred_count > 1 && i < f->blocks[to].pred_count; i++) {
            uint32_t n;
            ssa_successors(f, f->blocks[to].preds[i], &n);
            if (n > 1) ssa_split_edge(f, to, i);
            if (f->failed) return;
        }
}
