/* Work that may be ended early by somebody whom the layer that does it does not know. It asks before each piece; units
 * are those of core/poll.h: at most 100 ns, and at most 2^15 of them in a piece. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct long_work {
    bool (*over)(void *user, uint64_t units);
    void *user;
    bool ended; /* the result means nothing */
};

/* work NULL: it is never over. */
static inline bool long_work_over(struct long_work *work, uint64_t units)
{
    if (work && !work->ended) work->ended = work->over(work->user, units);
    return work && work->ended;
}
