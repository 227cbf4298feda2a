/* The digits of a double, all of them: a double is a sum of powers of two, so they end. */
#pragma once

enum { DECIMAL_DIGITS = 1100 }; /* the longest has 767 */

struct decimal {
    int point; /* digits before the decimal point; may be negative */
    int count; /* digits, without zeros at either end; 0: the number is zero */
    char digit[DECIMAL_DIGITS];
};

void penta_decimal_of(struct decimal *d, unsigned long long significand, int exponent);
/* Rounds to the first n digits, ties to even; n may be 0 or less. */
void penta_decimal_round(struct decimal *d, int n);
