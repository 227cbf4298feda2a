/* Removes copies and needless phis. A phi is needless if each of its arguments is the same value
 * or the phi itself; then it is a copy of that value. When a phi becomes a copy, the phis that
 * use it are looked at again. */
#include "ssa/ssa.h"
#include <stdlib.h>

struct phis {
    struct ssa_function *f;
    uint32_t *work, count; /* phis that must be looked at */
    uint32_t *first;       /* per value: where the phis that use it begin in `users` */
    uint32_t *users;
    uint8_t *waits; /* per value: 1 if it is in `work` */
    /* copy[v] is the first copy of value v, and next[c] the next copy of the same value after c.
     * `open` is a stack of copies. */
    uint32_t *copy, *next, *open;
};

/* Returns the only value among the arguments of a phi, not counting the phi itself, or 0 if
 * there are several. */
static uint32_t only_value(struct ssa_function *f, uint32_t phi)
{
    uint32_t only = 0;
    const struct ssa_insn *in = &f->insns[phi];
    ssa_work(f, in->count);
    for (uint32_t i = 0; i < in->count; i++) {
        uint32_t value = ssa_shorten(f, f->pool[in->list + i]);
        if (value == phi || value == only) continue;
        if (only) return 0;
        only = value;
    }
    return only;
}

/* Puts all phis into `work`, the last one first, so that the first one is looked at first. It
 * also records which phis use each value. */
static bool phis_find(struct phis *p)
{
    struct ssa_function *f = p->f;
    size_t args = 0;
    uint32_t phis = 0;
    p->first = calloc(f->count + 2, sizeof *p->first);
    p->waits = calloc(f->count + 1, 1);
    p->work = malloc((f->count + 1) * sizeof *p->work);
    p->copy = calloc(f->count + 1, sizeof *p->copy);
    p->next = calloc(f->count + 1, sizeof *p->next);
    p->open = malloc((f->count + 1) * sizeof *p->open);
    if (!p->first || !p->waits || !p->work || !p->copy || !p->next || !p->open) return false;
    for (size_t b = f->block_count; b-- > 0;) {
        uint32_t from = p->count;
        for (uint32_t i = f->blocks[b].first; i; i = f->insns[i].next) {
            const struct ssa_insn *in = &f->insns[i];
            if (in->op != SSA_PHI && in->op != SSA_COPY) break;
            if (in->op != SSA_PHI) continue;
            p->work[p->count++] = i;
            p->waits[i] = 1;
            args += in->count;
            for (uint32_t k = 0; k < in->count; k++)
                p->first[ssa_shorten(f, f->pool[in->list + k]) + 1]++;
        }
        for (uint32_t to = p->count; from + 1 < to; from++) {
            uint32_t last = p->work[--to];
            p->work[to] = p->work[from];
            p->work[from] = last;
        }
    }
    p->users = malloc((args + 1) * sizeof *p->users);
    if (!p->users || !ssa_work(f, args)) return false;
    for (size_t v = 1; v <= f->count; v++) p->first[v] += p->first[v - 1];
    for (phis = p->count; phis-- > 0;) {
        const struct ssa_insn *in = &f->insns[p->work[phis]];
        for (uint32_t k = 0; k < in->count; k++)
            p->users[p->first[ssa_shorten(f, f->pool[in->list + k])]++] = p->work[phis];
    }
    /* The users of value v end at first[v], and begin where those of v - 1 end. */
    return true;
}

/* Called when a phi has become a copy. The phis that use it, or a copy of it, may be needless
 * now. */
static void phis_again(struct phis *p, uint32_t phi)
{
    uint32_t depth = 0;
    for (p->open[depth++] = phi; depth;) {
        uint32_t value = p->open[--depth], from = p->first[value - 1], to = p->first[value];
        ssa_work(p->f, 1 + to - from);
        for (uint32_t k = from; k < to; k++) {
            uint32_t user = p->users[k];
            if (p->waits[user] || p->f->insns[user].op != SSA_PHI) continue;
            p->waits[user] = 1;
            p->work[p->count++] = user;
        }
        for (uint32_t c = p->copy[value]; c; c = p->next[c]) p->open[depth++] = c;
    }
}

static void phis_simplify(struct phis *p)
{
    struct ssa_function *f = p->f;
    while (p->count && !f->failed) {
        uint32_t phi = p->work[--p->count], value = only_value(f, phi);
        struct ssa_insn *in = &f->insns[phi];
        p->waits[phi] = 0;
        if (!value) continue;
        in->op = SSA_COPY;
        in->arg[0] = value;
        in->count = 0;
        p->next[phi] = p->copy[value];
        p->copy[value] = phi;
        phis_again(p, phi);
        if (!ssa_work(f, 1)) f->failed = true;
    }
}

void ssa_pass_copies(struct ssa_function *f)
{
    struct phis p = {.f = f};
    if (f->failed) return;
    if (phis_find(&p))
        phis_simplify(&p);
    else
        f->failed = true;
    free(p.work);
    free(p.first);
    free(p.users);
    free(p.waits);
    free(p.copy);
    free(p.next);
    free(p.open);
    for (size_t b = 0; b < f->block_count && !f->failed; b++)
        for (uint32_t i = f->blocks[b].first, next; i; i = next) {
            next = f->insns[i].next;
            if (f->insns[i].op == SSA_COPY)
                ssa_remove(f, i);
            else
                ssa_uses(f, i, ssa_to_origin, f);
        }
}
