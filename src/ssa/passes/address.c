/* Includes sums and shifts that compute an address in the instruction that uses the address, as
 * far as base + (index << scale) + disp can express them. */
#include "ssa/ssa.h"

static bool address_small(int64_t v) { return v == (int32_t)v; }

/* Does one step of this. Returns false if nothing is left to do. */
static bool address_absorb(struct ssa_function *f, struct ssa_insn *in)
{
    int64_t k;
    for (unsigned i = 0; i < 2; i++) {
        if (!in->arg[i]) continue;
        const struct ssa_insn *x = &f->insns[in->arg[i]];
        unsigned shift = i ? in->scale : 0;
        if (x->op == SSA_CONST && address_small((int64_t)((uint64_t)x->imm << shift)) &&
            address_small(in->imm + (int64_t)((uint64_t)x->imm << shift))) {
            in->imm += (int64_t)((uint64_t)x->imm << shift);
            in->arg[i] = 0;
            return true;
        }
        if (x->narrow) continue;
        if ((x->op == SSA_ADD || x->op == SSA_SUB) && ssa_is_const(f, x->arg[1], &k)) {
            if (x->op == SSA_SUB) k = (int64_t)(0 - (uint64_t)k);
            int64_t more = (int64_t)((uint64_t)k << shift);
            if (address_small(k) && address_small(more) && address_small(in->imm + more)) {
                in->imm += more;
                in->arg[i] = x->arg[0];
                return true;
            }
        }
        if (i && x->op == SSA_SHL && ssa_is_const(f, x->arg[1], &k) &&
            (uint64_t)k <= 3u - in->scale) {
            in->scale = (uint8_t)(in->scale + k);
            in->arg[1] = x->arg[0];
            return true;
        }
        if (!i && !in->arg[1] && x->op == SSA_ADD) {
            in->arg[0] = x->arg[0];
            in->arg[1] = x->arg[1];
            in->scale = 0;
            return true;
        }
    }
    /* If the address has only an index, the index becomes the base. If the base is a shifted
     * value, it becomes the index. */
    if (!in->arg[0] && in->arg[1] && !in->scale) {
        in->arg[0] = in->arg[1];
        in->arg[1] = 0;
        return true;
    }
    if (in->arg[0] && in->arg[1] && !in->scale) {
        const struct ssa_insn *x = &f->insns[in->arg[0]];
        if (x->op == SSA_SHL && !x->narrow && ssa_is_const(f, x->arg[1], &k) && (uint64_t)k <= 3) {
            uint32_t other = in->arg[1];
            in->arg[1] = in->arg[0];
            in->arg[0] = other;
            return true;
        }
    }
    return false;
}

void ssa_pass_address(struct ssa_function *f)
{
    for (size_t b = 0; b < f->block_count; b++)
        for (uint32_t i = f->blocks[b].first; i; i = f->insns[i].next)
            for (unsigned n = 0; n < 16 && ssa_has(f->insns[i].op, 'a'); n++)
                if (!address_absorb(f, &f->insns[i])) break;
}
