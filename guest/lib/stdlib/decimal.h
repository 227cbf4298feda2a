/* All decimal digits of a double. There are finitely many: a double is a sum of powers of two. */
#pragma once

enum { DECIMAL_DIGITS = 1100 }; /* no double has more than 767 */

struct decimal {
    int point; /* digits before the decimal point; may be negative */
    int count; /* of digits, without zeros at either end; 0: the number is zero */
    char digit[DECIMAL_DIGITS];
};

/* significand * 2^exponent */
void penta_decimal_of(struct decimal *d, unsigned long long significand, int exponent);
/* Rounds to the first n digits, ties to even; n may be 0 or less. */
void penta_decimal_round(struct decimal *d, int n);
