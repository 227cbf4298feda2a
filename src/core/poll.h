/* Counts work, so that an interrupt or a deadline takes effect within 10 ms of processor time.
 *
 * A unit of work takes at most 100 ns: an instruction of an interpreter's loop, an element that
 * is calculated, 64 bytes that are moved or filled (poll_bytes). A long instruction counts each
 * piece of its work before it does the piece. poll_work looks at the flag after at most
 * POLL_UNITS units, and at once when a piece alone is larger. When it returns true, the flag is
 * set and stays set. The caller then leaves its instruction undone, or notes how much of it is
 * done (the documents of the format say which), and its engine stops with PENTA_STOP_INTERRUPT
 * at this instruction, which does not count as a step. Loops of interpreters look at the flag
 * themselves, at least every POLL_UNITS instructions. */
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { POLL_UNITS = 1 << 15 };

struct poll {
    uint64_t left;  /* units until the next look */
    uint64_t given; /* the units counted so far plus those that are left (poll_total) */
    /* These are for tests: the largest piece so far, and the total at which a look sets the flag
     * itself (0 for never). */
    uint64_t largest, trip;
};

bool poll_look(struct poll *p, atomic_bool *flag, uint64_t units);

static inline bool poll_work(struct poll *p, atomic_bool *flag, uint64_t units)
{
    if (units > p->left) return poll_look(p, flag, units);
    p->left -= units;
    return false;
}

static inline uint64_t poll_bytes(uint64_t bytes) { return bytes / 64 + 1; }
/* Returns the units that were counted so far, for tests. */
static inline uint64_t poll_total(const struct poll *p) { return p->given - p->left; }
