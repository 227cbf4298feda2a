/* Computes products of 256 bits and their division, by those of 128 bits. */
#pragma once
#include <stdbool.h>
#include "arith/quad.h"
#include "arith/wide.h"

static inline quad_bits wider_join(uint64_t high, uint64_t low)
{
    return (quad_bits)high << 64 | low;
}
static inline uint64_t wider_high(quad_bits x) { return (uint64_t)(x >> 64); }

static inline quad_bits wider_product(uint64_t a, uint64_t b)
{
    uint64_t low, high = wide_mul(a, b, &low);
    return wider_join(high, low);
}

/* Returns the high 128 bits of a * b; the low ones go to *low. */
static inline quad_bits wider_mul(quad_bits a, quad_bits b, quad_bits *low)
{
    uint64_t ah = wider_high(a), al = (uint64_t)a, bh = wider_high(b), bl = (uint64_t)b;
    quad_bits first = wider_product(al, bl), mid = wider_product(ah, bl) + wider_high(first);
    quad_bits other = wider_product(al, bh) + (uint64_t)mid;
    *low = wider_join((uint64_t)other, (uint64_t)first);
    return wider_product(ah, bh) + wider_high(mid) + wider_high(other);
}

/* Returns one digit of 64 bits of the quotient rest:next / d. *rest becomes the remainder. rest
 * < d must hold, and the highest bit of d must be set. */
static inline uint64_t wider_digit(quad_bits *rest, uint64_t next, quad_bits d)
{
    uint64_t dh = wider_high(d), dl = (uint64_t)d, q = UINT64_MAX, r = 0;
    bool small = true; /* r fits 64 bits while `small` is set. */
    if (wider_high(*rest) < dh) {
        q = wide_div(wider_high(*rest), (uint64_t)*rest, dh, &r);
    } else {
        r = (uint64_t)*rest + dh;
        small = r >= dh;
    }
    while (small && wider_product(q, dl) > wider_join(r, next)) { /* q is at most two too large. */
        q--;
        r += dh;
        small = r >= dh;
    }
    *rest = wider_join((uint64_t)*rest, next) - (wider_product(q, dl) + wider_join(q * dh, 0));
    return q;
}

/* Divides high:low by d, for high < d and the highest bit of d set. */
static inline quad_bits wider_div(quad_bits high, quad_bits low, quad_bits d, quad_bits *rest)
{
    *rest = high;
    uint64_t first = wider_digit(rest, wider_high(low), d);
    return wider_join(first, wider_digit(rest, (uint64_t)low, d));
}
