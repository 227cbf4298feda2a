/* Shifts and rotations of integers of up to 64 bits, and of up to 128: the same text for both, since
 * the interpreter needs the short ones to be fast. */
#pragma once
#include "coil/coil.h"

/* The n bits of v shifted by count, rotated by turn; *carry is the last bit that left. */
#define DEFINE_SHIFT(name, unsigned_bits, signed_bits)                                             \
    static inline unsigned_bits name(uint8_t opcode, unsigned_bits v, unsigned n, uint64_t count,  \
                                     unsigned turn, bool *carry)                                   \
    {                                                                                              \
        const unsigned spare = 8 * sizeof v - n;                                                   \
        const unsigned_bits mask = (unsigned_bits)-1 >> spare;                                     \
        const bool top = v >> (n - 1) & 1;                                                         \
        signed_bits extended = (signed_bits)(v << spare) >> spare;                                 \
        *carry = false;                                                                            \
        switch (opcode) {                                                                          \
        case COIL_OP_SHL:                                                                          \
        case COIL_OP_SAL:                                                                          \
            if (count) *carry = count <= n && v >> (n - count) & 1;                                \
            return count < n ? v << count & mask : 0;                                              \
        case COIL_OP_SHR:                                                                          \
            if (count) *carry = count <= n && v >> (count - 1) & 1;                                \
            return count < n ? v >> count : 0;                                                     \
        case COIL_OP_SAR:                                                                          \
            if (count) *carry = count < n ? extended >> (count - 1) & 1 : top;                     \
            return (unsigned_bits)(count < n ? extended >> count : top ? -1 : 0) & mask;           \
        default:                                                                                   \
            if (opcode == COIL_OP_ROR) turn = (n - turn) % n;                                      \
            if (!turn) return v;                                                                   \
            v = (v << turn | v >> (n - turn)) & mask;                                              \
            *carry = opcode == COIL_OP_ROL ? v & 1 : v >> (n - 1) & 1;                             \
            return v;                                                                              \
        }                                                                                          \
    }
