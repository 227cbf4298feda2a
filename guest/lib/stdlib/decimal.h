/* Declares all decimal digits of a floating point number. Their number is finite, because the
 * number is a sum of powers of two. */
#pragma once
#include "arith/quad.h"

/* Room for the digits of a double and of a quad, and for computing them. */
enum { DOUBLE_DIGITS = 1100, DOUBLE_LIMBS = 130, QUAD_DIGITS = 11600, QUAD_LIMBS = 1900 };

struct decimal {
    int point; /* number of digits before the decimal point, which may be negative */
    int count; /* number of digits, without zeros at either end; 0 when the number is zero */
    char *digit;
    uint32_t *limb; /* room for computing */
    int limbs;
};

/* Writes the digits of significand * 2^exponent into the room that the caller gives. */
void penta_decimal_of(struct decimal *d, quad_bits significand, int exponent);
/* Rounds to the first n digits, ties to even. n may be 0 or less. */
void penta_decimal_round(struct decimal *d, int n);
