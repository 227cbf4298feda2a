/* Decides the order of blocks in the code. Blocks stay in the order of the front end, with these
 * exceptions: a block that was made for an edge comes right after the source of the edge,
 * inlined blocks after the call, and cold or unreachable blocks at the end. Afterwards the
 * number of a block is its place in the code. */
#include "ssa/ssa.h"
#include <stdlib.h>
#include <string.h>

struct layout {
    const struct ssa_function *f;
    uint32_t *order, count;
    uint32_t *place; /* per block: 1 + its place */
    uint32_t *stack, *child, *next;
};

static void layout_put(struct layout *l, uint32_t block)
{
    l->order[l->count++] = block;
    l->place[block] = l->count;
}

/* Places a block, and after it the blocks that were made for its edges. The block for the first
 * target of a branch is placed last, because the branch needs no jump to the block for its
 * second target. */
static void put_chain(struct layout *l, uint32_t block)
{
    const struct ssa_function *f = l->f;
    if (l->place[block]) return;
    layout_put(l, block);
    for (uint32_t at = l->count - 1; at < l->count; at++) {
        uint32_t n;
        const uint32_t *to = ssa_successors(f, l->order[at], &n);
        for (uint32_t k = n; k-- > 0;)
            if (f->blocks[to[k]].edge && !f->blocks[to[k]].cold && !l->place[to[k]])
                layout_put(l, to[k]);
    }
}

/* Places a block and the blocks of functions that are inlined in it. */
static void put_tree(struct layout *l, uint32_t block)
{
    uint32_t depth = 0;
    l->stack[depth++] = block;
    while (depth) {
        uint32_t at = l->stack[--depth];
        put_chain(l, at);
        if (at != block && l->next[at]) l->stack[depth++] = l->next[at] - 1;
        if (l->child[at]) l->stack[depth++] = l->child[at] - 1;
    }
}

static void find_order(struct layout *l)
{
    const struct ssa_function *f = l->f;
    uint32_t n = (uint32_t)f->block_count;
    for (uint32_t b = n; b-- > 0;) { /* This order makes lists of children in ascending order. */
        uint32_t parent = f->blocks[b].follows;
        if (!parent) continue;
        l->next[b] = l->child[parent - 1];
        l->child[parent - 1] = b + 1;
    }
    for (uint32_t b = 0; b < n; b++)
        if (!f->blocks[b].edge && !f->blocks[b].follows && !f->blocks[b].cold) put_tree(l, b);
    for (uint32_t b = 0; b < n; b++)
        if (!l->place[b]) put_chain(l, b);
}

static void layout_renumber(struct ssa_function *f, const struct layout *l,
                            struct ssa_block *blocks)
{
    for (uint32_t k = 0; k < l->count; k++) {
        uint32_t old = l->order[k];
        struct ssa_block *b = &blocks[k];
        *b = f->blocks[old];
        b->follows = 0;
        b->to[0] = l->place[b->to[0]] - 1;
        b->to[1] = l->place[b->to[1]] - 1;
        for (uint32_t i = 0; i < b->pred_count; i++) b->preds[i] = l->place[b->preds[i]] - 1;
        for (uint32_t i = b->first; i; i = f->insns[i].next) f->insns[i].block = k;
        const struct ssa_insn *end = &f->insns[b->last];
        for (uint32_t i = 0; b->last && end->op == SSA_SWITCH && i < end->count; i++)
            f->pool[end->list + i] = l->place[f->pool[end->list + i]] - 1;
    }
    memcpy(f->blocks, blocks, l->count * sizeof *blocks);
    free(blocks);
}

void ssa_pass_layout(struct ssa_function *f)
{
    size_t n = f->block_count;
    if (f->failed || !n) return;
    uint32_t *memory = calloc(5 * n + 1, sizeof *memory);
    struct ssa_block *blocks = calloc(n, sizeof *blocks);
    if (memory && blocks) {
        struct layout l = {
            f, memory, 0, memory + n, memory + 2 * n, memory + 3 * n + 1, memory + 4 * n + 1};
        find_order(&l);
        layout_renumber(f, &l, blocks);
    } else {
        f->failed = true;
        free(blocks);
    }
    free(memory);
}
