/* Declares what the comparisons of the guest's library with the machine's own share: numbers
 * that are the same in every run, and the count of failures. */
#pragma once
#include <stdint.h>

static unsigned failures;
static uint64_t state = 1;

static inline uint64_t random_next(void)
{
    uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static inline uint64_t random_below(uint64_t n) { return random_next() % n; }
