/* Defines shifts and rotations of integers of up to 64 bits and of up to 128 bits. One macro
 * defines both, because the interpreter needs the 64-bit functions to be fast. */
#pragma once
#include "base/u128.h"
#include "coil/coil.h"

static inline uint64_t u64_of(uint64_t v) { return v; }
static inline uint64_t u64_and(uint64_t a, uint64_t b) { return a & b; }
static inline uint64_t u64_or(uint64_t a, uint64_t b) { return a | b; }
static inline uint64_t u64_not(uint64_t a) { return ~a; }
static inline uint64_t u64_shl(uint64_t a, unsigned n) { return a << n; }
static inline uint64_t u64_shr(uint64_t a, unsigned n) { return a >> n; }
static inline uint64_t u64_sar(uint64_t a, unsigned n) { return (uint64_t)((int64_t)a >> n); }
static inline bool u64_bit(uint64_t a, unsigned n) { return a >> n & 1; }

/* Defines a function that returns the n bits of v shifted by `count`, or rotated by `turn`.
 * *carry becomes the last bit that was shifted out. `of` is the prefix of the functions on
 * numbers of this type: u64 or u128. */
#define DEFINE_SHIFT(name, type, of)                                                               \
    static inline type name(uint8_t opcode, type v, unsigned n, uint64_t count, unsigned turn,     \
                            bool *carry)                                                           \
    {                                                                                              \
        const unsigned spare = 8 * sizeof v - n;                                                   \
        const type mask = of##_shr(of##_not(of##_of(0)), spare);                                   \
        const bool top = of##_bit(v, n - 1);                                                       \
        const type extended = of##_sar(of##_shl(v, spare), spare);                                 \
        const unsigned by = (unsigned)count;                                                       \
        *carry = false;                                                                            \
        switch (opcode) {                                                                          \
        case COIL_OP_SHL:                                                                          \
        case COIL_OP_SAL:                                                                          \
            if (count) *carry = count <= n && of##_bit(v, n - by);                                 \
            return count < n ? of##_and(of##_shl(v, by), mask) : of##_of(0);                       \
        case COIL_OP_SHR:                                                                          \
            if (count) *carry = count <= n && of##_bit(v, by - 1);                                 \
            return count < n ? of##_shr(v, by) : of##_of(0);                                       \
        case COIL_OP_SAR:                                                                          \
            if (count) *carry = count < n ? of##_bit(extended, by - 1) : top;                      \
            if (count >= n) return top ? mask : of##_of(0);                                        \
            return of##_and(of##_sar(extended, by), mask);                                         \
        default:                                                                                   \
            if (opcode == COIL_OP_ROR) turn = (n - turn) % n;                                      \
            if (!turn) return v;                                                                   \
            v = of##_and(of##_or(of##_shl(v, turn), of##_shr(v, n - turn)), mask);                 \
            *carry = of##_bit(v, opcode == COIL_OP_ROL ? 0 : n - 1);                               \
            return v;                                                                              \
        }                                                                                          \
    }
