/* Turns branches around very little code into selections. If one side of a branch computes only
 * a value or two before both sides meet again, these values are always computed, and the
 * condition selects between the results. */
#include "ssa/ssa.h"

enum { INSTRUCTIONS = 2, PHIS = 1 };

static bool is_cheap(const struct ssa_insn *in)
{
    return ssa_has((enum ssa_op)in->op, 'p') && in->type == SSA_INT && in->op != SSA_MUL &&
           in->op != SSA_MULHS && in->op != SSA_MULHU && in->op != SSA_SELECT;
}

/* Tells whether a block between a branch and the place where its sides meet has only a few cheap
 * instructions. */
static bool block_is_aside(const struct ssa_function *f, uint32_t block, uint32_t join)
{
    const struct ssa_block *b = &f->blocks[block];
    unsigned n = 0;
    if (b->pred_count != 1 || f->insns[b->last].op != SSA_JUMP || b->to[0] != join) return false;
    for (uint32_t i = b->first; i != b->last; i = f->insns[i].next)
        if (!is_cheap(&f->insns[i]))
            return false;
        else if (f->insns[i].op != SSA_CONST && ++n > INSTRUCTIONS)
            return false;
    return true;
}

static bool few_phis(const struct ssa_function *f, uint32_t block)
{
    unsigned n = 0;
    for (uint32_t i = f->blocks[block].first; i && f->insns[i].op == SSA_PHI; i = f->insns[i].next)
        if (f->insns[i].type != SSA_INT || ++n > PHIS) return false;
    return n > 0;
}

static uint32_t pred_number(const struct ssa_function *f, uint32_t block, uint32_t pred)
{
    uint32_t i = 0;
    while (f->blocks[block].preds[i] != pred) i++;
    ssa_work(f, i);
    return i;
}

/* Replaces a branch by selections. `aside` is the block that is removed; the other edge of the
 * branch leads directly to the join. */
static void ifconvert_convert(struct ssa_function *f, uint32_t block, uint32_t aside, uint32_t join,
                              bool yes)
{
    uint32_t branch = f->blocks[block].last, set = ssa_new(f, SSA_SET, SSA_INT);
    uint32_t with = pred_number(f, join, aside), without = pred_number(f, join, block);
    if (f->failed) return;
    while (f->blocks[aside].first != f->blocks[aside].last) {
        uint32_t i = f->blocks[aside].first;
        ssa_remove(f, i);
        ssa_insert(f, branch, i);
    }
    f->insns[set].cond = f->insns[branch].cond;
    f->insns[set].narrow = f->insns[branch].narrow;
    f->insns[set].arg[0] = f->insns[branch].arg[0];
    f->insns[set].arg[1] = f->insns[branch].arg[1];
    ssa_insert(f, branch, set);
    for (uint32_t i = f->blocks[join].first; i && f->insns[i].op == SSA_PHI && !f->failed;
         i = f->insns[i].next) {
        uint32_t select = ssa_new(f, SSA_SELECT, SSA_INT), list = f->insns[i].list;
        if (!select) return;
        uint32_t one = f->pool[list + with], other = f->pool[list + without];
        f->insns[select].arg[0] = set;
        f->insns[select].arg[1] = yes ? one : other;
        f->insns[select].arg[2] = yes ? other : one;
        ssa_insert(f, branch, select);
        f->pool[list + without] = select;
    }
    ssa_unlink(f, aside, join);
    f->blocks[aside].first = f->blocks[aside].last = f->blocks[aside].pred_count = 0;
    f->insns[branch] =
        (struct ssa_insn){.op = SSA_JUMP, .block = block, .prev = f->insns[branch].prev};
    f->blocks[block].to[0] = join;
}

void ssa_pass_ifconvert(struct ssa_function *f)
{
    for (uint32_t b = 0; b < f->block_count && !f->failed; b++) {
        const struct ssa_block *block = &f->blocks[b];
        if (!block->last || f->insns[block->last].op != SSA_BRANCH) continue;
        uint32_t yes = block->to[0], no = block->to[1];
        if (yes == no || yes == b || no == b) continue;
        if (block_is_aside(f, yes, no) && few_phis(f, no))
            ifconvert_convert(f, b, yes, no, true);
        else if (block_is_aside(f, no, yes) && few_phis(f, yes))
            ifconvert_convert(f, b, no, yes, false);
    }
}
