/* Makes a block before every loop that is entered only from a block with several successors. The
 * new block is the place for what is computed once for all iterations. */
#include "ssa/ssa.h"

/* Returns the number of the only edge that enters the loop from outside, or UINT32_MAX if there
 * are several. */
static uint32_t loop_way_in(const struct ssa_function *f, const struct ssa_loops *l,
                            uint32_t header)
{
    uint32_t found = UINT32_MAX;
    const struct ssa_block *b = &f->blocks[header];
    for (uint32_t i = 0; i < b->pred_count; i++) {
        if (ssa_in_loop(l, b->preds[i], header)) continue;
        if (found != UINT32_MAX) return UINT32_MAX;
        found = i;
    }
    return found;
}

void ssa_pass_preheaders(struct ssa_function *f)
{
    struct ssa_loops l;
    if (f->failed || !ssa_loops(&l, f)) return;
    for (uint32_t k = 0; k < l.count && !f->failed; k++) {
        uint32_t header = l.order[k];
        if (l.header[header] != header + 1) continue;
        uint32_t which = loop_way_in(f, &l, header), n;
        if (which == UINT32_MAX) continue;
        ssa_successors(f, f->blocks[header].preds[which], &n);
        if (n > 1) ssa_split_edge(f, header, which);
    }
    ssa_loops_free(&l);
}
