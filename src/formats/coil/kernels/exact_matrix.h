/* Integer matrices, exactly (COIL 7.15). Elements are 64-bit values in two's complement; results
 * are modulo 2^64, as integer operations wrap. */
#pragma once
#include "core/poll.h"

enum { COIL_EXACT_ROWS = 32 }; /* of an inverse: its cost grows with the fifth power */

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

/* Destroys a. */
enum coil_exact coil_exact_determinant(uint64_t *a, unsigned n, struct coil_exact_poll poll,
                                       uint64_t *out);

/* out: every element of the inverse, cut toward zero. is_unsigned: a holds unsigned values. */
enum coil_exact coil_exact_inverse(const uint64_t *a, unsigned n, bool is_unsigned,
                                   struct coil_exact_poll poll, uint64_t *out);
