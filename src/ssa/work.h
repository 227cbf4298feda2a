/* The work of compiling a function, counted in steps of the loops whose number is not bounded by the size of the
 * function alone: instructions and parts of lists that are made, uses that are visited, blocks in which a
 * value lives, steps from loop to loop outward. When a function takes more than it may, or somebody has
 * set the flag, it fails, and its front end does with simpler code. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct ssa_work {
    uint64_t done, most;      /* of the function */
    uint64_t look;            /* where the next look at the flag is */
    const volatile int *stop; /* set by a signal handler or another thread; NULL: never */
    bool over;                /* one of the two has come */
};

/* False: it is over. */
bool ssa_work_look(struct ssa_work *w);
/* What takes memory counts as more, so that this is bounded too: an instruction, a state of an exit, a block in
 * which a value lives. */
enum { SSA_WORK_INSN = 32, SSA_WORK_STATE = 8, SSA_WORK_LIFE = 8 };

static inline bool ssa_work_do(struct ssa_work *w, uint64_t steps)
{
    if (!w) return true;
    w->done += steps;
    return w->done < w->look || ssa_work_look(w);
}
