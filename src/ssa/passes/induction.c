/* Finds counted loops: a phi of such a loop grows by the same value in every iteration, and a
 * comparison of the phi ends the loop. It relies on loops.c, and on preheaders.c for a block
 * before the loop. */
#include "ssa/passes/induction.h"

bool ssa_invariant_in(const struct ssa_function *f, const struct ssa_loops *l, uint32_t value,
                      uint32_t header)
{
    const struct ssa_insn *in = &f->insns[value];
    return in->op == SSA_CONST || in->op == SSA_FIXED || !ssa_in_loop(l, in->block, header);
}

const struct ssa_induction *ssa_counter_of(const struct ssa_counted *c, uint32_t value)
{
    for (uint32_t i = 0; i < c->count; i++)
        if (c->counters[i].phi == value) return &c->counters[i];
    return NULL;
}

static uint32_t without_extension(const struct ssa_function *f, uint32_t value)
{
    while (f->insns[value].op == SSA_SEXT32 || f->insns[value].op == SSA_ZEXT32)
        value = f->insns[value].arg[0];
    return value;
}

static void add_counter(struct ssa_counted *c, const struct ssa_function *f,
                        const struct ssa_loops *l, uint32_t phi)
{
    const struct ssa_insn *in = &f->insns[phi];
    const struct ssa_block *h = &f->blocks[c->header];
    if (in->type != SSA_INT || c->count == SSA_COUNTERS) return;
    struct ssa_induction found = {.phi = phi};
    for (uint32_t k = 0; k < h->pred_count; k++)
        *(h->preds[k] == c->latch ? &found.next : &found.init) = f->pool[in->list + k];
    uint32_t sum = without_extension(f, found.next);
    const struct ssa_insn *add = &f->insns[sum];
    if (add->op != SSA_ADD || (sum != found.next && !add->narrow)) return;
    found.narrow = add->narrow;
    for (unsigned k = 0; k < 2; k++)
        if (without_extension(f, add->arg[k]) == phi && (add->arg[k] == phi || add->narrow) &&
            ssa_invariant_in(f, l, add->arg[!k], c->header))
            found.step = add->arg[!k];
    if (found.step) c->counters[c->count++] = found;
}

/* Tells whether the branch at the end of a block limits a counter. If so, the limit is stored in
 * *c. */
static bool take_bound(struct ssa_counted *c, const struct ssa_function *f,
                       const struct ssa_loops *l, uint32_t block)
{
    static const uint8_t swapped[SSA_CONDS] = {SSA_EQ, SSA_NE, SSA_GT, SSA_GE, SSA_LT,
                                               SSA_LE, SSA_A,  SSA_AE, SSA_B,  SSA_BE};
    const struct ssa_block *b = &f->blocks[block];
    const struct ssa_insn *in = &f->insns[b->last];
    if (in->op != SSA_BRANCH) return false;
    bool first = ssa_in_loop(l, b->to[0], c->header), second = ssa_in_loop(l, b->to[1], c->header);
    if (first == second) return false;
    for (unsigned side = 0; side < 2; side++) {
        uint32_t x = without_extension(f, in->arg[side]), bound = in->arg[!side];
        uint8_t cond = first ? in->cond : ssa_cond_not[in->cond];
        if (side) cond = swapped[cond];
        int64_t step = 0;
        if (!ssa_invariant_in(f, l, bound, c->header)) continue;
        for (uint32_t i = 0; i < c->count; i++) {
            bool next = x == without_extension(f, c->counters[i].next);
            if (x != c->counters[i].phi && !next) continue;
            /* A loop that counts by one until a counter equals a number continues while the
             * counter is below that number. */
            bool to = cond == SSA_NE && ssa_is_const(f, c->counters[i].step, &step) && step == 1;
            bool below = cond == SSA_LT || cond == SSA_B || to;
            if (!below && cond != SSA_LE && cond != SSA_BE) continue;
            c->main = i;
            c->bound = bound;
            c->inclusive = !below;
            c->narrow = in->narrow || in->arg[side] != x;
            c->on_next = next;
            c->stay = b->to[!first];
            return true;
        }
    }
    return false;
}

bool ssa_counted(struct ssa_counted *c, const struct ssa_function *f, const struct ssa_loops *l,
                 uint32_t header)
{
    *c = (struct ssa_counted){.header = header, .preheader = ssa_preheader(f, l, header)};
    const struct ssa_block *h = &f->blocks[header];
    if (c->preheader == UINT32_MAX || h->pred_count != 2) return false;
    c->latch = h->preds[h->preds[0] == c->preheader];
    for (uint32_t i = h->first; i && f->insns[i].op == SSA_PHI; i = f->insns[i].next)
        add_counter(c, f, l, i);
    for (uint32_t k = 0; c->count && k < l->member_count[header]; k++) {
        uint32_t b = l->members[l->member_first[header] + k];
        if (ssa_dominates(l, b, c->latch) && take_bound(c, f, l, b)) return true;
    }
    return false;
}
