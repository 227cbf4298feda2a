/* The passes in their order. */
#include "ssa/ssa.h"

const struct ssa_pass ssa_passes[] = {
    {"copies", ssa_pass_copies, "copies and needless phis", SSA_LEVEL_FULL},
    {"fold", ssa_pass_fold, "constants and identities", SSA_LEVEL_FULL},
    {"branches", ssa_pass_branches, "known conditions, joined blocks", SSA_LEVEL_FULL},
    {"number", ssa_pass_number, "equal values and checks", SSA_LEVEL_FULL},
    {"forward", ssa_pass_forward, "loads of what is known", SSA_LEVEL_FULL},
    {"peephole", ssa_pass_peephole, "comparisons where they are used", SSA_LEVEL_FULL},
    {"ifconvert", ssa_pass_ifconvert, "selections for branches around next to nothing",
     SSA_LEVEL_FULL},
    {"strength", ssa_pass_strength, "divisions by constants", SSA_LEVEL_FULL},
    {"regions", ssa_pass_regions, "checks of memory whose place is known", SSA_LEVEL_FULL},
    {"dead", ssa_pass_dead, "code without effect", SSA_LEVEL_FULL},
    {"preheaders", ssa_pass_preheaders, "a block in front of every loop", SSA_LEVEL_FULL},
    {"invariant", ssa_pass_invariant, "code that moves out of loops", SSA_LEVEL_FULL},
    {"hoist", ssa_pass_hoist, "checks that leave loops that count", SSA_LEVEL_FULL},
    {"polls", ssa_pass_polls, "polls of loops that check something anyway", SSA_LEVEL_FULL},
    {"address", ssa_pass_address, "sums in addressing modes", SSA_LEVEL_FULL},
    {"clean", ssa_pass_dead, "what the passes before left without use", SSA_LEVEL_FULL},
    {"edges", ssa_pass_edges, "a block on every critical edge", SSA_LEVEL_FAST},
    {"layout", ssa_pass_layout, "blocks in the order of the code", SSA_LEVEL_FAST},
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
