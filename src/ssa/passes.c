/* This file has the table of passes, made from passes.def, and the function that runs them in
 * their order. */
#include "ssa/ssa.h"

const struct ssa_pass ssa_passes[] = {
#define PASS(name, what) {#name, ssa_pass_##name, what},
#define AGAIN(name, pass, what) {#name, ssa_pass_##pass, what},
#include "ssa/passes.def"
    {NULL, NULL, NULL},
};

void ssa_optimise(struct ssa_function *f, ssa_after_fn *after, void *user)
{
    for (const struct ssa_pass *p = ssa_passes; p->name && !f->failed; p++) {
        p->run(f);
        if (!ssa_work(f, 1)) f->failed = true;
        if (after) after(user, p->name, f);
    }
}
