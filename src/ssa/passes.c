/* The passes in their order. */
#include "ssa/ssa.h"

const struct ssa_pass ssa_passes[] = {
    {"copies", ssa_pass_copies, "copies and needless phis"},
    {"fold", ssa_pass_fold, "constants and identities"},
    {"number", ssa_pass_number, "equal values, loads after stores"},
    {"regions", ssa_pass_regions, "checks of memory whose place is known"},
    {"polls", ssa_pass_polls, "polls of loops that check something anyway"},
    {"dead", ssa_pass_dead, "code without effect"},
    {"invariant", ssa_pass_invariant, "code that moves out of loops"},
    {"address", ssa_pass_address, "sums in addressing modes"},
    {"clean", ssa_pass_dead, "what the passes before left without use"},
    {"edges", ssa_pass_edges, "a block on every critical edge"},
    {NULL, NULL, NULL},
};

void ssa_optimise(struct ssa_function *f, ssa_after_fn *after, void *user)
{
    for (const struct ssa_pass *p = ssa_passes; p->name && !f->failed; p++) {
        p->run(f);
        if (after) after(user, p->name, f);
    }
}
