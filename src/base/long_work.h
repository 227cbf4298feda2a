/* Long work may be ended early by a caller in a higher layer. The work asks before each of its
 * pieces whether to go on. A unit is that of core/poll.h, at most 100 ns of work; a piece has at
 * most 2^15 units. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"

struct long_work {
    bool (*over)(void *user, uint64_t units);
    void *user;
    bool ended; /* The work was ended early: its result means nothing. */
};

/* A struct flag_work is work that ends when a flag is set. The flag is read at least once in
 * LONG_WORK_UNITS units. */
enum { LONG_WORK_UNITS = 1 << 15 };
struct flag_work {
    struct long_work work;
    /* A signal handler or another thread sets the flag; when the pointer is NULL, nothing ends
     * the work. */
    const volatile int *flag;
    uint64_t left; /* how many units are left until the flag is read again */
};

static inline bool flag_work_over(void *user, uint64_t units)
{
    struct flag_work *w = (struct flag_work *)user;
    if (units < w->left) {
        w->left -= units;
        return false;
    }
    w->left = LONG_WORK_UNITS;
    return w->flag && *w->flag;
}

/* Prepares w and returns the work in it, which lives as long as w does. */
static inline struct long_work *flag_work_begin(struct flag_work *w, const volatile int *flag)
{
    *w = (struct flag_work){.work = {.over = flag_work_over, .user = w}, .flag = flag};
    return &w->work;
}

/* Tells whether the work is to end before its next `units`. Work that is NULL is never ended. */
static inline bool long_work_over(struct long_work *work, uint64_t units)
{
    if (work && !work->ended) work->ended = work->over(work->user, units);
    return work && work->ended;
}

/* Copies bytes in pieces. Returns false when the work was ended, and then a part is missing. */
static inline bool long_work_copy(uint8_t *to, penta_bytes from, struct long_work *work)
{
    enum { PIECE = 1 << 20 };
    for (size_t done = 0, n; done < from.size; done += n) {
        n = from.size - done < PIECE ? from.size - done : PIECE;
        if (long_work_over(work, n / 64 + 1)) return false;
        memcpy(to + done, from.data + done, n);
    }
    return true;
}
