/* Simplifies small patterns that the other passes leave: a branch, guard or set that tests the
 * result of a comparison does the comparison itself, and a selection whose result is known
 * becomes a copy. */
#include "ssa/ssa.h"

/* Simplifies x != 0 and x == 0, where x is the result of a comparison. */
static bool on_comparison(struct ssa_function *f, struct ssa_insn *in)
{
    const struct ssa_insn *set = &f->insns[in->arg[0]];
    int64_t zero;
    bool is = in->cond == SSA_NE;
    if (set->op != SSA_SET || (!is && in->cond != SSA_EQ) || !ssa_is_const(f, in->arg[1], &zero) ||
        zero)
        return false;
    in->cond = is ? set->cond : ssa_cond_not[set->cond];
    in->narrow = set->narrow;
    in->arg[1] = set->arg[1];
    in->arg[0] = set->arg[0];
    return true;
}

static void simplify_select(struct ssa_function *f, struct ssa_insn *in)
{
    int64_t known;
    bool same = in->arg[1] == in->arg[2];
    if (!same && !ssa_is_const(f, in->arg[0], &known)) return;
    in->arg[0] = same || known ? in->arg[1] : in->arg[2];
    in->arg[1] = in->arg[2] = 0;
    in->op = SSA_COPY;
}

void ssa_pass_peephole(struct ssa_function *f)
{
    for (size_t b = 0; b < f->block_count; b++)
        for (uint32_t i = f->blocks[b].first; i; i = f->insns[i].next) {
            struct ssa_insn *in = &f->insns[i];
            if (in->op == SSA_BRANCH || in->op == SSA_GUARD || in->op == SSA_SET)
                while (on_comparison(f, in)) continue;
            if (in->op == SSA_SELECT) simplify_select(f, in);
        }
    ssa_pass_copies(f);
}
