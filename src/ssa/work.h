/* Counts the work of compiling a function in steps. Steps are counted in those loops whose
 * number of rounds is not limited by the size of the function alone: for instructions and parts
 * of lists that are made, uses that are visited, blocks in which a value lives, and steps from a
 * loop to the one around it. When a function takes more steps than it may, or when the flag is
 * set, compiling the function fails, and its front end uses simpler code. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct ssa_work {
    uint64_t done, most;      /* done: steps so far; most: steps that the function may take */
    uint64_t look;            /* number of steps at which the flag is looked at next */
    const volatile int *stop; /* flag set by a signal handler or another thread, or NULL */
    bool over;                /* true if there was too much work, or the flag was set */
};

/* Returns false if the function took too much work, or if the flag is set. */
bool ssa_work_look(struct ssa_work *w);
/* Everything that takes memory counts as several steps, so that memory is limited too: an
 * instruction, a state of an exit, a block in which a value lives. */
enum { SSA_WORK_INSN = 32, SSA_WORK_STATE = 8, SSA_WORK_LIFE = 8 };

static inline bool ssa_work_do(struct ssa_work *w, uint64_t steps)
{
    if (!w) return true;
    w->done += steps;
    return w->done < w->look || ssa_work_look(w);
}
