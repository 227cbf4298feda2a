/* Replaces loads of known values: a load gives the value that was stored at its place, or loaded
 * from there before, unless an access in between may have changed it. This works inside a block,
 * and continues in a block whose only predecessor was visited last. Two accesses do not overlap
 * if their addresses differ by a constant that is large enough, or if one is in the memory of
 * the context and the other in that of the guest. */
#include "ssa/ssa.h"

enum { KNOWN = 32 };
struct known {
    uint32_t access, value; /* access: a load or a store; value: the value at its place */
};
struct memory {
    struct known items[KNOWN];
    uint32_t count, next; /* next: the item that is replaced when all are in use */
};

static bool same_place(const struct ssa_insn *a, const struct ssa_insn *b)
{
    return a->arg[0] == b->arg[0] && a->arg[1] == b->arg[1] && a->scale == b->scale;
}

/* Returns which memory an address is in: 1 + the number of the reserved register that it starts
 * from, or 0 if that is not known. */
static uint32_t memory_of(const struct ssa_function *f, const struct ssa_insn *in)
{
    if (!in->arg[0]) return 0;
    const struct ssa_insn *base = &f->insns[in->arg[0]];
    if (base->op == SSA_ADD && !base->narrow) base = &f->insns[base->arg[0]];
    return base->op == SSA_FIXED ? (uint32_t)base->imm + 1 : 0;
}

static bool may_meet(const struct ssa_function *f, uint32_t x, uint32_t y)
{
    const struct ssa_insn *a = &f->insns[x], *b = &f->insns[y];
    if (same_place(a, b)) {
        int64_t size_a = INT64_C(1) << ssa_mem_bits[a->mem], size_b = INT64_C(1)
                                                                      << ssa_mem_bits[b->mem];
        return a->imm < b->imm + size_b && b->imm < a->imm + size_a;
    }
    uint32_t p = memory_of(f, a), q = memory_of(f, b);
    return !p || !q || p == q;
}

static void forward_learn(struct memory *m, uint32_t access, uint32_t value)
{
    struct known *k = m->count < KNOWN ? &m->items[m->count++] : &m->items[m->next++ % KNOWN];
    *k = (struct known){access, value};
}

static void forward_forget(struct ssa_function *f, struct memory *m, uint32_t store)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < m->count; i++)
        if (!may_meet(f, m->items[i].access, store)) m->items[kept++] = m->items[i];
    m->count = kept;
}

static uint32_t forward_recall(const struct ssa_function *f, const struct memory *m, uint32_t load)
{
    const struct ssa_insn *in = &f->insns[load];
    for (uint32_t i = m->count; i-- > 0;) {
        const struct ssa_insn *k = &f->insns[m->items[i].access];
        if (same_place(k, in) && k->imm == in->imm && k->mem == in->mem &&
            f->insns[m->items[i].value].type == in->type)
            return m->items[i].value;
    }
    return 0;
}

static void forward_visit(struct ssa_function *f, struct memory *m, uint32_t block)
{
    for (uint32_t i = f->blocks[block].first; i; i = f->insns[i].next) {
        struct ssa_insn *in = &f->insns[i];
        if (in->op != SSA_PHI) ssa_uses(f, i, ssa_to_origin, f);
        if (in->op == SSA_LOAD) {
            uint32_t value = forward_recall(f, m, i);
            if (!value) {
                forward_learn(m, i, i);
                continue;
            }
            in->op = SSA_COPY;
            in->arg[0] = value;
            in->arg[1] = 0;
        } else if (in->op == SSA_STORE) {
            forward_forget(f, m, i);
            /* A value narrower than 64 bits would have to be extended as a load does it, so it
             * is not remembered. */
            if (in->mem >= SSA_X64) forward_learn(m, i, in->arg[2]);
        } else if (ssa_has((enum ssa_op)in->op, 'm')) {
            m->count = 0;
        }
    }
}

void ssa_pass_forward(struct ssa_function *f)
{
    struct ssa_loops l;
    struct memory m = {.count = 0};
    uint32_t last = UINT32_MAX;
    if (f->failed || !ssa_loops(&l, f)) return;
    for (uint32_t k = 0; k < l.count; k++) {
        uint32_t b = l.order[k];
        bool goes_on = f->blocks[b].pred_count == 1 && f->blocks[b].preds[0] == last;
        if (!goes_on) m.count = 0;
        forward_visit(f, &m, b);
        last = b;
    }
    ssa_loops_free(&l);
    ssa_pass_copies(f);
}
