/* Finds the order, the dominators and the loops of a function. Dominators are found after
 * Cooper, Harvey and Kennedy, "A simple, fast dominance algorithm". A loop is the set of blocks
 * from which a back edge can be reached without passing the header of the loop. */
#include "ssa/ssa.h"
#include <stdlib.h>

/* Allocates all arrays in one piece of memory, which begins with `order`. */
static bool loops_allocate(struct ssa_loops *l, size_t blocks)
{
    *l = (struct ssa_loops){0};
    uint32_t **all[] = {&l->order,   &l->number,       &l->dominator,   &l->header,
                        &l->outer,   &l->depth,        &l->tree,        &l->tree_end,
                        &l->members, &l->member_first, &l->member_count};
    enum { ARRAYS = sizeof all / sizeof *all };
    uint32_t *memory = calloc((blocks + 1) * ARRAYS, sizeof *memory);
    for (size_t i = 0; memory && i < ARRAYS; i++) *all[i] = memory + i * (blocks + 1);
    return memory;
}

void ssa_loops_free(struct ssa_loops *l)
{
    free(l->order);
    *l = (struct ssa_loops){0};
}

/* Stores the blocks in postorder, beginning at the end of the array, so that the array has them
 * in reverse postorder. */
static bool find_order(struct ssa_loops *l, const struct ssa_function *f)
{
    struct visit {
        uint32_t block, next;
    } *stack = malloc((f->block_count + 1) * sizeof *stack);
    size_t depth = 0, end = f->block_count;
    if (!stack) return false;
    stack[depth++] = (struct visit){0, 0};
    l->number[0] = 1;
    while (depth) {
        struct visit *v = &stack[depth - 1];
        uint32_t n;
        const uint32_t *to = ssa_successors(f, v->block, &n);
        if (v->next == n) {
            l->order[--end] = v->block;
            depth--;
            continue;
        }
        uint32_t next = to[v->next++];
        if (!l->number[next]) {
            l->number[next] = 1;
            stack[depth++] = (struct visit){next, 0};
        }
    }
    free(stack);
    l->count = (uint32_t)(f->block_count - end);
    for (uint32_t i = 0; i < l->count; i++) {
        l->order[i] = l->order[end + i];
        l->number[l->order[i]] = i + 1;
    }
    return true;
}

static uint32_t loops_meet(const struct ssa_loops *l, uint32_t a, uint32_t b)
{
    uint64_t steps = 1;
    while (a != b) {
        for (; l->number[a] > l->number[b]; steps++) a = l->dominator[a];
        for (; l->number[b] > l->number[a]; steps++) b = l->dominator[b];
    }
    ssa_work_do(l->work, steps);
    return a;
}

static void find_dominators(struct ssa_loops *l, const struct ssa_function *f)
{
    for (size_t i = 0; i < f->block_count; i++) l->dominator[i] = UINT32_MAX;
    l->dominator[0] = 0;
    for (bool again = true; again && ssa_work(f, l->count);) {
        again = false;
        for (uint32_t i = 1; i < l->count && (!f->work || !f->work->over); i++) {
            const struct ssa_block *b = &f->blocks[l->order[i]];
            uint32_t to = UINT32_MAX;
            /* The last predecessor comes first: if many blocks lead to one block, each step up
             * the tree is then short. */

            for (uint32_t k = b->pred_count; k-- > 0;) {
                uint32_t p = b->preds[k];
                if (!l->number[p] || l->dominator[p] == UINT32_MAX) continue;
                to = to == UINT32_MAX ? p : loops_meet(l, p, to);
            }
            if (to == l->dominator[l->order[i]]) continue;
            l->dominator[l->order[i]] = to;
            again = true;
        }
    }
}

/* Numbers the tree of dominators from the root, so that the blocks that a block dominates have
 * consecutive numbers. It first counts the sizes of subtrees, from the leaves up; then each
 * block takes its share of the range of its parent. */
static void number_tree(struct ssa_loops *l)
{
    for (uint32_t i = l->count; i-- > 0;) {
        uint32_t b = l->order[i];
        l->tree_end[b]++;
        if (i) l->tree_end[l->dominator[b]] += l->tree_end[b];
    }
    for (uint32_t i = 0; i < l->count; i++) {
        uint32_t b = l->order[i], up = l->dominator[b], size = l->tree_end[b];
        /* A child takes its numbers from the end of its parent's range, and tree_end of the
         * parent moves down. */

        l->tree[b] = i ? l->tree_end[up] - size : 0;
        if (i) l->tree_end[up] -= size;
        l->tree_end[b] = l->tree[b] + size;
    }
    /* This sets tree_end of parents again, from those of their children. */
    for (uint32_t i = l->count; i-- > 1;) {
        uint32_t b = l->order[i], up = l->dominator[b];
        if (l->tree_end[b] > l->tree_end[up]) l->tree_end[up] = l->tree_end[b];
    }
}

bool ssa_dominates(const struct ssa_loops *l, uint32_t a, uint32_t b)
{
    if (!l->number[a] || !l->number[b]) return a == b;
    return l->tree[a] <= l->tree[b] && l->tree[b] < l->tree_end[a];
}

bool ssa_in_loop(const struct ssa_loops *l, uint32_t block, uint32_t header)
{
    uint32_t h = l->header[block];
    uint64_t steps = 0;
    for (; h && h != header + 1; steps++) h = l->outer[h - 1];
    if (steps) ssa_work_do(l->work, steps);
    return h != 0;
}

/* Returns 1 + the header of the outermost loop around a block among the loops found so far, or
 * 0. */
static uint32_t loops_outermost(const struct ssa_loops *l, uint32_t block)
{
    uint32_t h = l->header[block];
    uint64_t steps = 1;
    for (; h && l->outer[h - 1]; steps++) h = l->outer[h - 1];
    ssa_work_do(l->work, steps);
    return h;
}

static bool is_back_edge(const struct ssa_loops *l, uint32_t from, uint32_t to)
{
    return l->number[from] && ssa_dominates(l, to, from);
}

/* Finds the loops from the innermost headers outward. A block belongs to the first loop that
 * reaches it, and the search passes an inner loop in one step. */
static bool find_loops(struct ssa_loops *l, const struct ssa_function *f)
{
    size_t edges = 1;
    for (size_t b = 0; b < f->block_count; b++) edges += f->blocks[b].pred_count;
    uint32_t *work = malloc(edges * 2 * sizeof *work);
    if (!work) return false;
    for (uint32_t i = l->count; i-- > 0;) {
        uint32_t h = l->order[i], n = 0;
        for (uint32_t k = 0; k < f->blocks[h].pred_count; k++)
            if (is_back_edge(l, f->blocks[h].preds[k], h))
                work[n++] = f->blocks[h].preds[k];
            else if (l->number[f->blocks[h].preds[k]] > l->number[h])
                l->tangled = true;
        if (n) l->header[h] = h + 1;
        while (n && (!f->work || !f->work->over)) {
            uint32_t at = work[--n], top = loops_outermost(l, at);
            if (top == h + 1 || !l->number[at]) continue;
            if (top) {
                at = top - 1;
                l->outer[at] = h + 1;
            } else {
                l->header[at] = h + 1;
            }
            for (uint32_t k = 0; k < f->blocks[at].pred_count; k++)
                work[n++] = f->blocks[at].preds[k];
        }
    }
    free(work);
    /* The header of a loop comes before the other blocks of the loop. */
    for (uint32_t i = 0; i < l->count; i++) {
        uint32_t b = l->order[i], h = l->header[b];
        uint32_t up = h == b + 1 ? l->outer[b] : h;
        l->depth[b] = (h == b + 1) + (up ? l->depth[up - 1] : 0);
    }
    return true;
}

/* Stores the blocks of each loop next to each other, including those of its inner loops. When a
 * header comes, its loop takes its share of the places of the loop around it. */
static bool find_members(struct ssa_loops *l, size_t blocks)
{
    /* next[h] is the next free place of the loop with header h. */
    uint32_t *next = calloc(blocks + 1, sizeof *next), top = 0;
    if (!next) return false;
    for (uint32_t i = l->count; i-- > 0;) {
        uint32_t b = l->order[i], h = l->header[b];
        if (h) l->member_count[h - 1]++;
        if (h == b + 1 && l->outer[b]) l->member_count[l->outer[b] - 1] += l->member_count[b];
    }
    for (uint32_t i = 0; i < l->count; i++) {
        uint32_t b = l->order[i], h = l->header[b];
        if (h == b + 1) {
            uint32_t *from = l->outer[b] ? &next[l->outer[b] - 1] : &top;
            next[b] = l->member_first[b] = *from;
            *from += l->member_count[b];
        }
        if (h) l->members[next[h - 1]++] = b;
    }
    free(next);
    return true;
}

bool ssa_loops(struct ssa_loops *l, const struct ssa_function *f)
{
    bool ok = loops_allocate(l, f->block_count);
    l->work = f->work;
    /* Only a part of the code exists, so the front end has said where loops begin. */
    if (ok && f->apart) {
        for (uint32_t b = 0; b < f->block_count; b++) {
            l->number[b] = b + 1;
            l->header[b] = f->blocks[b].loops ? b + 1 : 0;
        }
        return true;
    }
    ok = ok && find_order(l, f);
    if (ok) {
        find_dominators(l, f);
        ok = ssa_work(f, 1); /* If this fails, not all dominators are known. */
    }
    if (ok) {
        number_tree(l);
        ok = find_loops(l, f) && find_members(l, f->block_count) && ssa_work(f, 1);
    }
    if (!ok) ssa_loops_free(l);
    return ok;
}
