/* Work is counted, so that an interrupt or a deadline takes effect within 10 ms of processor time.
 *
 * A unit of work takes at most 100 ns: an instruction of an interpreter's loop, an element that is
 * calculated, 64 bytes that are moved or filled (poll_bytes). Who works for long counts each piece
 * before doing it. poll_work looks at the flag after at most POLL_UNITS units, and before them if the
 * piece alone is larger. When it returns true, the flag is set and stays set: the caller leaves its
 * instruction undone, or notes how far it came (the format's documents say which), and its engine
 * stops with PENTA_STOP_INTERRUPT at this instruction, which does not count as a step.
 * Loops of interpreters look at the flag themselves, at least every POLL_UNITS instructions. */
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { POLL_UNITS = 1 << 15 };

struct poll {
    uint64_t left;  /* units until the next look */
    uint64_t given; /* units counted so far, and those that are left: see poll_total */
    /* For tests: the largest piece; and the total at which a look sets the flag itself, 0: none. */
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
/* For tests: all units that were counted. */
static inline uint64_t poll_total(const struct poll *p) { return p->given - p->left; }
