/* Checks the interrupt flag between pieces of work. */
#include "core/poll.h"

bool poll_look(struct poll *p, atomic_bool *flag, uint64_t units)
{
    uint64_t total = poll_total(p) + units;
    if (units > p->largest) p->largest = units;
    if (p->trip && total > p->trip) {
        p->trip = 0;
        atomic_store_explicit(flag, true, memory_order_relaxed);
    }
    bool set = atomic_load_explicit(flag, memory_order_relaxed);
    if (set) return true; /* The piece will not be done, so it is not counted. */
    p->left = units < POLL_UNITS ? POLL_UNITS - units : 0;
    p->given = total + p->left;
    return false;
}
