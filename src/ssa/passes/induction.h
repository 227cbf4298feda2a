/* Loops that count: shared by induction.c, which finds them, and the passes that use that. */
#pragma once
#include "ssa/ssa.h"

struct ssa_induction { /* a phi of the header that every iteration adds the same to */
    uint32_t phi, next;
    uint32_t init, step; /* values that do not change in the loop */
    bool narrow;         /* added in 32 bits */
};
enum { SSA_COUNTERS = 8 };
/* The loop goes on while the counter, or what it will be next, is below a bound: x < bound, or with
 * `inclusive` x <= bound. */
struct ssa_counted {
    uint32_t header, preheader, latch;
    struct ssa_induction counters[SSA_COUNTERS];
    uint32_t count, main; /* main: the one that is compared */
    uint32_t bound;
    bool inclusive, narrow; /* narrow: compared in 32 bits */
    bool on_next;
    uint32_t stay; /* where the comparison leads inside; the counter is below the bound there */
};

bool ssa_counted(struct ssa_counted *c, const struct ssa_function *f, const struct ssa_loops *l,
                 uint32_t header);
/* Whether a value is the same in all iterations. */
bool ssa_invariant_in(const struct ssa_function *f, const struct ssa_loops *l, uint32_t value,
                      uint32_t header);
/* The counter that a value is; NULL: none. */
const struct ssa_induction *ssa_counter_of(const struct ssa_counted *c, uint32_t value);

/* version.c: a second copy of loops. The copies and what leads to them are made one after the other;
 * when all are there, values that were computed in such a loop get phis where both copies meet. */
struct ssa_versions {
    struct ssa_function *f;
    size_t values;    /* how many there were before */
    uint32_t *copy;   /* per value: the one in the other copy */
    uint32_t *region; /* per block: 2 * header + 1, of the copy 2 * header + 2; 0: none */
    size_t region_capacity;
};
bool ssa_versions_begin(struct ssa_versions *v, struct ssa_function *f);
/* Copies the loop and returns a block that leads to the copy. */
uint32_t ssa_version(struct ssa_versions *v, const struct ssa_loops *l, uint32_t header);
void ssa_versions_end(struct ssa_versions *v);
