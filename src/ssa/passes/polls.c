/* Removes polls from loops that notice an interrupt anyway. An interrupt makes every check
 * against a limit or window of the context fail, and makes the stack seem full. So a loop with
 * such a check in every iteration needs no poll. Functions that have cycles with several entries
 * keep all polls. */
#include "ssa/ssa.h"

static bool block_notices(const struct ssa_function *f, uint32_t block)
{
    for (uint32_t i = f->blocks[block].first; i && ssa_work(f, 1); i = f->insns[i].next) {
        uint8_t op = f->insns[i].op;
        if (op == SSA_LIMIT || op == SSA_WINDOW || op == SSA_DEPTH) return true;
    }
    return false;
}

/* Tells whether every way around the loop passes a block: the block dominates all blocks that
 * jump back. */
static bool always_passed(const struct ssa_function *f, const struct ssa_loops *l, uint32_t block,
                          uint32_t header)
{
    const struct ssa_block *h = &f->blocks[header];
    for (uint32_t i = 0; i < h->pred_count; i++)
        if (ssa_in_loop(l, h->preds[i], header) && !ssa_dominates(l, block, h->preds[i]))
            return false;
    return true;
}

static bool loop_notices(const struct ssa_function *f, const struct ssa_loops *l, uint32_t header)
{
    for (uint32_t k = 0; k < l->member_count[header]; k++) {
        uint32_t b = l->members[l->member_first[header] + k];
        if (block_notices(f, b) && always_passed(f, l, b, header)) return true;
    }
    return false;
}

/* The pass also removes a poll that is in no loop any more, because a jump back was replaced by
 * a copy of the loop's header. */
void ssa_pass_polls(struct ssa_function *f)
{
    struct ssa_loops l;
    if (f->failed || !ssa_loops(&l, f)) return;
    for (uint32_t k = 0; k < l.count && !l.tangled; k++) {
        uint32_t b = l.order[k], header = l.header[b];
        int known = -1;
        for (uint32_t i = f->blocks[b].first, next; i; i = next) {
            next = f->insns[i].next;
            if (f->insns[i].op != SSA_POLL) continue;
            if (known < 0) known = !header || loop_notices(f, &l, header - 1);
            if (known) ssa_remove(f, i);
        }
    }
    ssa_loops_free(&l);
}
