/* Runs the passes in their order. */
#include "ssa/ssa.h"

const struct ssa_pass ssa_passes[] = {
#define PASS(name, level, what) {#name, ssa_pass_##name, what, SSA_LEVEL_##level},
#define AGAIN(name, pass, level, what) {#name, ssa_pass_##pass, what, SSA_LEVEL_##level},
#include "ssa/passes.def"
    {NULL, NULL, NULL, 0},
};

void ssa_optimise(struct ssa_function *f, unsigned level, ssa_after_fn *after, void *user)
{
    for (const struct ssa_pass *p = ssa_passes; p->name && !f->failed; p++) {
        if (p->level > level) continue;
        p->run(f);
        if (after) after(user, p->name, f);
    }
}
