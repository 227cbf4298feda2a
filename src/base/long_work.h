/* Long work that a caller in a higher layer may end early. The work asks before each of its pieces whether to go on.
 * A unit is that of core/poll.h, at most 100 ns of work; a piece has at most 2^15 units. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct long_work {
    bool (*over)(void *user, uint64_t units);
    void *user;
    bool ended; /* the work was ended: its result means nothing */
};

/* Tells whether the work is to end before its next `units`. Work that is NULL is never ended. */
static inline bool long_work_over(struct long_work *work, uint64_t units)
{
    if (work && !work->ended) work->ended = work->over(work->user, units);
    return work && work->ended;
}
