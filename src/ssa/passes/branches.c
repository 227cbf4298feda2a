/* Turns branches whose condition is known into jumps, and empties blocks that cannot be reached
 * any more. A block with one predecessor, which ends with a jump to it, becomes a part of that
 * predecessor. */
#include "ssa/ssa.h"
#include <stdlib.h>

void ssa_unlink(struct ssa_function *f, uint32_t from, uint32_t to)
{
    struct ssa_block *b = &f->blocks[to];
    uint32_t which = 0;
    while (which < b->pred_count && b->preds[which] != from) which++;
    ssa_work(f, b->pred_count);
    if (which == b->pred_count) return;
    b->pred_count--;
    for (uint32_t i = which; i < b->pred_count; i++) b->preds[i] = b->preds[i + 1];
    for (uint32_t i = b->first; i && f->insns[i].op == SSA_PHI; i = f->insns[i].next) {
        struct ssa_insn *phi = &f->insns[i];
        phi->count--;
        for (uint32_t k = which; k < phi->count; k++)
            f->pool[phi->list + k] = f->pool[phi->list + k + 1];
    }
}

static void branches_decide(struct ssa_function *f, uint32_t block)
{
    struct ssa_block *b = &f->blocks[block];
    struct ssa_insn *end = &f->insns[b->last];
    int64_t x, y;
    if (!b->last || end->op != SSA_BRANCH || !ssa_is_const(f, end->arg[0], &x) ||
        !ssa_is_const(f, end->arg[1], &y))
        return;
    bool holds = ssa_cond_holds((enum ssa_cond)end->cond, end->narrow, x, y);
    ssa_unlink(f, block, b->to[holds]);
    b->to[0] = b->to[!holds];
    *end = (struct ssa_insn){.op = SSA_JUMP, .block = block, .prev = end->prev};
}

static void branches_empty(struct ssa_function *f, uint32_t block)
{
    uint32_t n;
    const uint32_t *to = ssa_successors(f, block, &n);
    for (uint32_t k = 0; k < n; k++) ssa_unlink(f, block, to[k]);
    struct ssa_block *b = &f->blocks[block];
    b->first = b->last = b->pred_count = 0;
}

/* A phi with one argument becomes a copy of it. */
static void drop_phis(struct ssa_function *f, uint32_t block)
{
    for (uint32_t i = f->blocks[block].first; i && f->insns[i].op == SSA_PHI;
         i = f->insns[i].next) {
        struct ssa_insn *phi = &f->insns[i];
        phi->op = SSA_COPY;
        phi->arg[0] = f->pool[phi->list];
        phi->count = phi->list = 0;
    }
}

static void branches_absorb(struct ssa_function *f, uint32_t block, uint32_t next)
{
    struct ssa_block *b = &f->blocks[block], *t = &f->blocks[next];
    uint32_t n;
    drop_phis(f, next);
    ssa_remove(f, b->last);
    for (uint32_t i = t->first; i; i = f->insns[i].next) f->insns[i].block = block;
    f->insns[t->first].prev = b->last;
    if (b->last)
        f->insns[b->last].next = t->first;
    else
        b->first = t->first;
    b->last = t->last;
    b->to[0] = t->to[0];
    b->to[1] = t->to[1];
    t->first = t->last = t->pred_count = 0;
    const uint32_t *to = ssa_successors(f, block, &n);
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t i = 0; i < f->blocks[to[k]].pred_count; i++)
            if (f->blocks[to[k]].preds[i] == next) f->blocks[to[k]].preds[i] = block;
}

static bool branches_joins(const struct ssa_function *f, uint32_t block, uint32_t *next)
{
    const struct ssa_block *b = &f->blocks[block];
    if (!b->last || f->insns[b->last].op != SSA_JUMP) return false;
    *next = b->to[0];
    return *next && *next != block && f->blocks[*next].pred_count == 1;
}

void ssa_pass_branches(struct ssa_function *f)
{
    struct ssa_loops l;
    if (f->failed) return;
    for (uint32_t b = 0; b < f->block_count; b++) branches_decide(f, b);
    /* into[b] is 1 + the block that block b became a part of, or 0. */
    uint32_t *into = calloc(f->block_count, sizeof *into);
    if (!into || !ssa_loops(&l, f)) {
        free(into);
        return;
    }
    for (uint32_t b = 0; b < f->block_count; b++)
        if (!l.number[b]) branches_empty(f, b);
    for (uint32_t k = 0; k < l.count; k++)
        for (uint32_t b = l.order[k], next; f->blocks[b].last && branches_joins(f, b, &next);) {
            branches_absorb(f, b, next);
            into[next] = b + 1;
        }
    for (uint32_t b = 0; b < f->block_count; b++) {
        uint32_t *follows = &f->blocks[b].follows;
        while (*follows && into[*follows - 1]) *follows = into[*follows - 1];
    }
    free(into);
    ssa_loops_free(&l);
    ssa_pass_copies(f);
}
