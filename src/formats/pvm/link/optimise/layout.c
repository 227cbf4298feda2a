/* Chooses the order of the blocks. The compiler's order is good for loops, so it stays in
 * general. But a block can move to a place where a jump to it would be, if no other block goes
 * on into it without a jump. */
#include "pvm/link/optimise/optimise.h"
#include <stdlib.h>

struct placing {
    struct link *l;
    bool *placed;
    uint32_t *before; /* for each block: the block before it in the compiler's order */
};

/* Tells whether control goes from the first block to the second without a jump when the second
 * comes right after the first. */
static bool falls_into(const struct link *l, uint32_t from, uint32_t to)
{
    const struct link_block *b = &l->blocks[from];
    const struct link_insn *last = link_last(b);
    return link_through(l, b->next) == to && (!last || link_is_branch(last->op));
}

/* Tells whether a block is written. An empty block is not: nothing jumps to it, and its entry in
 * the jump table leads to the block after it. */
static bool block_written(const struct link *l, uint32_t block)
{
    return l->blocks[block].reached && link_through(l, block) == block;
}

static bool block_can_follow(const struct placing *w, uint32_t block, uint32_t after)
{
    if (block == LINK_NONE || w->placed[block] || !block_written(w->l, block)) return false;
    uint32_t before = w->before[block];
    return before == after || before == LINK_NONE || w->placed[before] ||
           !falls_into(w->l, before, block);
}

static uint32_t block_best_after(const struct placing *w, uint32_t block)
{
    const struct link_block *b = &w->l->blocks[block];
    const struct link_insn *last = link_last(b);
    if (last && !link_is_branch(last->op)) return LINK_NONE;
    uint32_t next = link_through(w->l, b->next),
             to = last ? link_through(w->l, last->to) : LINK_NONE;
    if (block_can_follow(w, next, block)) return next;
    return block_can_follow(w, to, block) ? to : LINK_NONE;
}

bool opt_layout(struct link *l)
{
    struct placing w = {.l = l};
    w.placed = calloc(l->block_count + 1, sizeof *w.placed);
    w.before = malloc((l->block_count + 1) * sizeof *w.before);
    bool ok = w.placed && w.before;
    if (!ok) error_at(&l->err, BASE_MEMORY, 0, "no memory for blocks");
    uint32_t last = LINK_NONE;
    for (uint32_t i = 0; ok && i < l->block_count; i++) {
        if (!block_written(l, i)) continue;
        w.before[i] = last;
        last = i;
    }
    for (uint32_t i = 0; ok && i < l->block_count; i++) {
        if (!block_written(l, i)) continue;
        for (uint32_t b = i; b != LINK_NONE && !w.placed[b]; b = block_best_after(&w, b)) {
            w.placed[b] = true;
            l->sequence[l->sequence_count++] = b;
        }
    }
    free(w.placed);
    free(w.before);
    return ok;
}
