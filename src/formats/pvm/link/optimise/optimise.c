/* Runs the passes again and again until nothing changes, because each can make work for the
 * others. */
#include "pvm/link/optimise/optimise.h"

/* More rounds make no difference that matters: with eight, Lua was three bytes smaller, SQLite
 * the same. */
enum { ROUNDS = 3 };

bool link_optimise(struct link *l)
{
    opt_normal_form(l);
    for (unsigned round = 0; round < ROUNDS; round++) {
        bool changed = false;
        if (!opt_flow(l, &changed) || !opt_dead(l, &changed) || !opt_values(l, &changed))
            return false;
        if (!changed) break;
    }
    bool changed = false;
    return opt_tails(l, &changed) && opt_flow(l, &changed) && opt_dead(l, &changed) &&
           opt_flow(l, &changed);
}
