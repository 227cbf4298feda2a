/* These functions compute exactly with integer matrices (COIL 7.15). Elements are 64-bit values
 * in two's complement. Results are taken modulo 2^64, because integer operations wrap. */
#pragma once
#include "core/poll.h"

/* A matrix may have at most this many rows to have an inverse computed, because the time grows
 * with the fifth power of the rows. */
enum { COIL_EXACT_ROWS = 32 };

enum coil_exact {
    COIL_EXACT_DONE,
    COIL_EXACT_SINGULAR,
    COIL_EXACT_NO_MEMORY,
    COIL_EXACT_INTERRUPTED
};
struct coil_exact_poll { /* how work is counted, and the flag that stops it */
    struct poll *poll;
    atomic_bool *flag;
};

/* Computes the determinant of `a`, and destroys `a`. */
enum coil_exact coil_exact_determinant(uint64_t *a, unsigned n, struct coil_exact_poll poll,
                                       uint64_t *out);

/* Computes the inverse. `out` gets every element, rounded toward zero. `is_unsigned` tells
 * whether the elements of `a` are unsigned. */
enum coil_exact coil_exact_inverse(const uint64_t *a, unsigned n, bool is_unsigned,
                                   struct coil_exact_poll poll, uint64_t *out);
