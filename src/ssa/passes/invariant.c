/* Moves code that does not depend on the iteration out of loops. Pure instructions whose
 * arguments come from outside a loop move before the loop, from the innermost loop outward. It
 * relies on the blocks that preheaders.c makes. */
#include "ssa/ssa.h"

uint32_t ssa_preheader(const struct ssa_function *f, const struct ssa_loops *l, uint32_t header)
{
    uint32_t found = UINT32_MAX, n;
    const struct ssa_block *b = &f->blocks[header];
    for (uint32_t i = 0; i < b->pred_count; i++) {
        if (ssa_in_loop(l, b->preds[i], header)) continue;
        if (found != UINT32_MAX) return UINT32_MAX;
        found = b->preds[i];
    }
    if (found != UINT32_MAX) ssa_successors(f, found, &n);
    return found != UINT32_MAX && n == 1 ? found : UINT32_MAX;
}

static bool invariant_moves(const struct ssa_function *f, const struct ssa_loops *l, uint32_t value,
                            uint32_t header)
{
    const struct ssa_insn *in = &f->insns[value];
    if (!ssa_has(in->op, 'p')) return false;
    /* Small constants are parts of instructions, so they stay in the loop. */
    if (in->op == SSA_CONST && in->type == SSA_INT && in->imm == (int32_t)in->imm) return false;
    if (in->op == SSA_FIXED) return false;
    for (unsigned i = 0; i < ssa_ops[in->op].args; i++) {
        if (!in->arg[i]) continue;
        const struct ssa_insn *x = &f->insns[in->arg[i]];
        bool anywhere = x->op == SSA_FIXED || x->op == SSA_CONST;
        if (!anywhere && ssa_in_loop(l, x->block, header)) return false;
    }
    return true;
}

/* An instruction that moves may use constants that stay in the loop. This copies them to the
 * place where the instruction goes. */
static void bring_constants(struct ssa_function *f, const struct ssa_loops *l, uint32_t value,
                            uint32_t header, uint32_t before)
{
    for (unsigned i = 0; i < ssa_ops[f->insns[value].op].args; i++) {
        uint32_t arg = f->insns[value].arg[i];
        if (!arg || !ssa_in_loop(l, f->insns[arg].block, header)) continue;
        uint32_t copy =
            ssa_new(f, (enum ssa_op)f->insns[arg].op, (enum ssa_type)f->insns[arg].type);
        if (!copy) return;
        f->insns[copy].imm = f->insns[arg].imm;
        f->insns[value].arg[i] = copy;
        ssa_insert(f, before, copy);
    }
}

static void empty_loop(struct ssa_function *f, const struct ssa_loops *l, uint32_t header)
{
    uint32_t before = ssa_preheader(f, l, header);
    if (before == UINT32_MAX) return;
    for (uint32_t k = 0; k < l->member_count[header]; k++) {
        uint32_t block = l->members[l->member_first[header] + k];
        for (uint32_t i = f->blocks[block].first, next; i && !f->failed; i = next) {
            next = f->insns[i].next;
            if (!ssa_work(f, 1)) f->failed = true;
            if (!invariant_moves(f, l, i, header)) continue;
            uint32_t end = f->blocks[before].last;
            bring_constants(f, l, i, header, end);
            ssa_remove(f, i);
            ssa_insert(f, end, i);
        }
    }
}

void ssa_pass_invariant(struct ssa_function *f)
{
    struct ssa_loops l;
    if (f->failed || !ssa_loops(&l, f)) return;
    for (uint32_t i = l.count; i-- > 0;)
        if (l.header[l.order[i]] == l.order[i] + 1) empty_loop(f, &l, l.order[i]);
    ssa_loops_free(&l);
}
