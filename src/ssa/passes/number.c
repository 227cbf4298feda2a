/* This pass is value numbering: a pure computation that is dominated by an equal one becomes a
 * copy of that one. A guard or window that is dominated by an equal one is removed, because the
 * comparison still holds and memory never becomes smaller. A LIMIT stays, because the exit of
 * the equal one may have let another access pass. forward.c handles loads. */
#include "ssa/ssa.h"
#include <stdlib.h>
#include <string.h>

struct table {
    uint32_t *slots; /* the numbers of values in the hash table */
    size_t mask;
};

static uint64_t number_mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * UINT64_C(0x9E3779B97F4A7C15);
    return h ^ h >> 29;
}

static uint64_t number_hash(const struct ssa_insn *in)
{
    uint64_t h =
        number_mix(in->op, (uint64_t)in->type << 32 | (uint64_t)in->cond << 24 |
                               (uint64_t)in->mem << 16 | (uint64_t)in->scale << 8 | in->narrow);
    h = number_mix(h, (uint64_t)in->arg[0] << 32 | in->arg[1]);
    return number_mix(h, (uint64_t)in->imm ^ (uint64_t)in->arg[2] << 32);
}

static bool number_equal(const struct ssa_insn *a, const struct ssa_insn *b)
{
    return a->op == b->op && a->type == b->type && a->cond == b->cond && a->mem == b->mem &&
           a->scale == b->scale && a->narrow == b->narrow && a->imm == b->imm &&
           !memcmp(a->arg, b->arg, sizeof a->arg);
}

/* Returns an equal value that dominates this one. If there is none, it adds this one to the
 * table and returns 0. Blocks are visited in the preorder of the dominator tree, so an entry
 * that does not dominate this block is never needed again. */
static uint32_t number_find(struct table *t, const struct ssa_function *f,
                            const struct ssa_loops *l, uint32_t value)
{
    const struct ssa_insn *in = &f->insns[value];
    size_t at = number_hash(in) & t->mask;
    for (; t->slots[at]; at = (at + 1) & t->mask) {
        uint32_t other = t->slots[at];
        const struct ssa_insn *o = &f->insns[other];
        if (!number_equal(o, in)) continue;
        if (ssa_dominates(l, o->block, in->block)) return other;
        break;
    }
    t->slots[at] = value;
    return 0;
}

static void number_visit(struct ssa_function *f, const struct ssa_loops *l, struct table *t,
                         uint32_t block)
{
    for (uint32_t i = f->blocks[block].first, next; i; i = next) {
        next = f->insns[i].next;
        struct ssa_insn *in = &f->insns[i];
        if (in->op != SSA_PHI) ssa_uses(f, i, ssa_to_origin, f);
        if (in->op == SSA_GUARD || in->op == SSA_WINDOW) {
            if (number_find(t, f, l, i)) ssa_remove(f, i);
            continue;
        }
        uint32_t same = ssa_has(in->op, 'p') && in->op != SSA_COPY ? number_find(t, f, l, i) : 0;
        if (!same || f->insns[same].type != in->type) continue;
        in->op = SSA_COPY;
        in->arg[0] = same;
        in->arg[1] = in->arg[2] = 0;
    }
}

void ssa_pass_number(struct ssa_function *f)
{
    struct ssa_loops l;
    if (f->failed || !ssa_loops(&l, f)) return;
    size_t size = 64;
    while (size < f->count * 2) size *= 2;
    struct table t = {calloc(size, sizeof *t.slots), size - 1};
    uint32_t *order = malloc((l.count + 1) * sizeof *order);
    for (uint32_t i = 0; order && i < l.count; i++) order[l.tree[l.order[i]]] = l.order[i];
    for (uint32_t i = 0; order && t.slots && i < l.count; i++) number_visit(f, &l, &t, order[i]);
    free(order);
    free(t.slots);
    ssa_loops_free(&l);
    ssa_pass_copies(f);
}
