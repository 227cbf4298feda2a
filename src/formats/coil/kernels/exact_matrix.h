/* Integer matrices, exactly (COIL 7.15). Elements are 64-bit values in two's complement; results
 * are modulo 2^64, as integer operations wrap. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum { COIL_EXACT_ROWS = 32 }; /* of an inverse: its cost grows with the fifth power */

/* Destroys a. */
uint64_t coil_exact_determinant(uint64_t *a, unsigned n);

enum coil_exact { COIL_EXACT_DONE, COIL_EXACT_SINGULAR, COIL_EXACT_NO_MEMORY };
/* out: every element of the inverse, cut toward zero. is_unsigned: a holds unsigned values. */
enum coil_exact coil_exact_inverse(const uint64_t *a, unsigned n, bool is_unsigned, uint64_t *out);
