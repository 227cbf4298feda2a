/* Counted loops. induction.c finds them, and several passes use them. */
#pragma once
#include "ssa/ssa.h"

struct ssa_induction { /* a phi of the header to which every iteration adds the same value */
    uint32_t phi, next;
    uint32_t init, step; /* initial value and step, which do not change in the loop */
    bool narrow;         /* true if the sum has 32 bits */
};
enum { SSA_COUNTERS = 8 };
/* The loop continues while the counter, or its next value, is below a bound: x < bound, or x <=
 * bound if `inclusive` is set. */
struct ssa_counted {
    uint32_t header, preheader, latch;
    struct ssa_induction counters[SSA_COUNTERS];
    uint32_t count, main; /* main: the index of the counter that is compared */
    uint32_t bound;
    bool inclusive, narrow; /* narrow: the comparison has 32 bits */
    bool on_next;
    /* The comparison leads to this block inside the loop; there the counter is below the bound. */
    uint32_t stay;
};

bool ssa_counted(struct ssa_counted *c, const struct ssa_function *f, const struct ssa_loops *l,
                 uint32_t header);
/* Tells whether a value is the same in all iterations. */
bool ssa_invariant_in(const struct ssa_function *f, const struct ssa_loops *l, uint32_t value,
                      uint32_t header);
/* Returns the counter whose phi a value is, or NULL. */
const struct ssa_induction *ssa_counter_of(const struct ssa_counted *c, uint32_t value);

/* Returns the most cycles that one round of the loop takes, or SSA_LOOP_HEAVY if they are as
 * many or more, or unknown (loop_cost.c). If the step is unknown, the result is the cycles for
 * each unit of the step. */
enum { SSA_LOOP_HEAVY = 4096 };
uint32_t ssa_loop_cycles(const struct ssa_function *f, const struct ssa_loops *l,
                         const struct ssa_counted *c);

/* These functions make second copies of loops (version.c). First all copies, and the blocks that
 * lead to them, are made. Then values that were computed in such a loop get phis where both
 * copies meet. */
struct ssa_versions {
    struct ssa_function *f;
    size_t values;  /* number of values that existed before the copies */
    uint32_t *copy; /* per value: its copy in the second loop */
    /* For each block this is 2 * header + 1 in a loop with a copy, 2 * header + 2 in the copy,
     * and 0 elsewhere. */
    uint32_t *region;
    size_t region_capacity;
};
bool ssa_versions_begin(struct ssa_versions *v, struct ssa_function *f);
/* Copies a loop and returns a block that leads to the copy. */
uint32_t ssa_version(struct ssa_versions *v, const struct ssa_loops *l, uint32_t header);
void ssa_versions_end(struct ssa_versions *v);
