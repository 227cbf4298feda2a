/* Exact integer matrices (COIL 7.15). Elements are 64-bit values in two's complement. Results are
 * taken modulo 2^64, as integer operations wrap. */
#pragma once
#include "core/poll.h"

/* Most rows for an inverse, whose cost grows with the fifth power of the rows. */
enum { COIL_EXACT_ROWS = 32 };

enum coil_exact {
    COIL_EXACT_DONE,
    COIL_EXACT_SINGULAR,
    COIL_EXACT_NO_MEMORY,
    COIL_EXACT_INTERRUPTED
};
struct coil_exact_poll { /* where work is counted, and the flag that ends it */
    struct poll *poll;
    atomic_bool *flag;
};

/* Computes the determinant. It destroys a. */
enum coil_exact coil_exact_determinant(uint64_t *a, unsigned n, struct coil_exact_poll poll,
                                       uint64_t *out);

/* Computes the inverse. `out` gets every element, rounded toward zero. `is_unsigned` tells that a
 * has unsigned values. */
enum coil_exact coil_exact_inverse(const uint64_t *a, unsigned n, bool is_unsigned,
                                   struct coil_exact_poll poll, uint64_t *out);
