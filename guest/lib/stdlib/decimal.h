/* All decimal digits of a floating point number. There are finitely many: it is a sum of powers of two. */
#pragma once
#include "arith/quad.h"

/* Room for the digits of a double and of a quad, and for computing them. */
enum { DOUBLE_DIGITS = 1100, DOUBLE_LIMBS = 130, QUAD_DIGITS = 11600, QUAD_LIMBS = 1900 };

struct decimal {
    int point; /* digits before the decimal point; may be negative */
    int count; /* of digits, without zeros at either end; 0: the number is zero */
    char *digit;
    uint32_t *limb; /* room to compute in */
    int limbs;
};

/* significand * 2^exponent, into the room that is there */
void penta_decimal_of(struct decimal *d, quad_bits significand, int exponent);
/* Rounds to the first n digits, ties to even; n may be 0 or less. */
void penta_decimal_round(struct decimal *d, int n);
