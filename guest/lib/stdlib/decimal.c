#include "stdlib/decimal.h"
#include <stdint.h>

/* A limb has nine digits. FIRST_LIMBS is enough for the significand of a quad. */
enum { BASE = 1000000000, FIRST_LIMBS = 4 };

/* A number in limbs of nine digits, the highest first. The decimal point is before limb[whole]. */
struct limbs {
    uint32_t *limb;
    int first, end, whole;
};

static void times_power(struct limbs *n, int power)
{
    while (power) {
        int part = power < 29 ? power : 29;
        uint64_t carry = 0;
        for (int i = n->end - 1; i >= n->first; i--) {
            uint64_t x = ((uint64_t)n->limb[i] << part) + carry;
            n->limb[i] = (uint32_t)(x % BASE);
            carry = x / BASE;
        }
        if (carry) n->limb[--n->first] = (uint32_t)carry;
        power -= part;
    }
}

/* Divides by a power of two. 2^9 divides the base, so each pass adds at most one limb at the
 * end. */
static void over_power(struct limbs *n, int power)
{
    while (power) {
        int part = power < 9 ? power : 9;
        uint32_t rest = 0, mask = (1u << part) - 1, unit = (uint32_t)BASE >> part;
        for (int i = n->first; i < n->end; i++) {
            uint32_t x = n->limb[i];
            n->limb[i] = (x >> part) + rest * unit;
            rest = x & mask;
        }
        if (rest) n->limb[n->end++] = rest * unit;
        while (n->first < n->end && !n->limb[n->first]) n->first++;
        power -= part;
    }
}

/* Puts the significand into limbs, from the end on. */
static void put_significand(struct limbs *n, quad_bits significand)
{
    uint32_t word[4];
    for (int i = 0; i < 4; i++) word[i] = (uint32_t)(significand >> (96 - 32 * i));
    while (word[0] | word[1] | word[2] | word[3]) {
        uint64_t rest = 0;
        for (int i = 0; i < 4; i++) {
            rest = rest << 32 | word[i];
            word[i] = (uint32_t)(rest / BASE);
            rest %= BASE;
        }
        n->limb[--n->first] = (uint32_t)rest;
    }
}

void penta_decimal_of(struct decimal *d, quad_bits significand, int exponent)
{
    struct limbs n = {.limb = d->limb};
    d->point = d->count = 0;
    if (!significand) return;
    while (!(significand & 1)) {
        significand >>= 1;
        exponent++;
    }
    n.whole = n.end = n.first = exponent >= 0 ? d->limbs : FIRST_LIMBS;
    put_significand(&n, significand);
    if (exponent >= 0)
        times_power(&n, exponent);
    else
        over_power(&n, -exponent);
    d->point = 9 * (n.whole - n.first);
    for (int i = n.first; i < n.end; i++)
        for (uint32_t unit = BASE / 10; unit; unit /= 10) {
            char digit = (char)(n.limb[i] / unit % 10);
            if (!d->count && !digit)
                d->point--; /* A leading zero is no digit. */
            else
                d->digit[d->count++] = digit;
        }
    while (d->count && !d->digit[d->count - 1]) d->count--;
}

void penta_decimal_round(struct decimal *d, int n)
{
    if (n >= d->count) return;
    int up = 0;
    if (n >= 0) {
        int tie = d->digit[n] == 5 && d->count == n + 1;
        up = tie ? n > 0 && d->digit[n - 1] & 1 : d->digit[n] >= 5;
    }
    d->count = n > 0 ? n : 0;
    if (up) {
        while (d->count && d->digit[d->count - 1] == 9) d->count--;
        if (d->count) {
            d->digit[d->count - 1]++;
        } else { /* Rounding made 10 of 9.99. */
            d->digit[d->count++] = 1;
            d->point++;
        }
    }
    while (d->count && !d->digit[d->count - 1]) d->count--;
}
