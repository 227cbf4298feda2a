/* The meaning of operations on scalars (COIL 7.2, COIL 7.8), written once for every engine. A
 * scalar is passed in 64 bits: integers are extended by their own sign, FP32 and FP64 are their
 * bits, with upper bytes of zero. */
#pragma once
#include "coil/coil.h"

/* Returns the low bytes of raw as a value of the type. */
static inline uint64_t coil_canon(uint8_t op, uint64_t raw)
{
    switch (op) {
    case COIL_T_INT8: return (uint64_t)(int64_t)(int8_t)raw;
    case COIL_T_BIT:
    case COIL_T_UNT8: return (uint8_t)raw;
    case COIL_T_INT16: return (uint64_t)(int64_t)(int16_t)raw;
    case COIL_T_UNT16: return (uint16_t)raw;
    case COIL_T_INT32: return (uint64_t)(int64_t)(int32_t)raw;
    case COIL_T_UNT32:
    case COIL_T_FP32: return (uint32_t)raw;
    default: return raw;
    }
}
static inline double coil_double_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, 8);
    return value;
}
/* Converts a NaN of FP32 to a double and keeps its bits, because RISC-V would give the same NaN for
 * all of them. */
static inline double coil_wide_nan(uint32_t half)
{
    uint64_t sign = (uint64_t)(half >> 31) << 63, payload = (uint64_t)(half & 0x3fffff) << 29;
    return coil_double_of(sign | UINT64_C(0x7ff8000000000000) | payload);
}
static inline double coil_real(uint8_t op, uint64_t bits)
{
    float single;
    uint32_t half = (uint32_t)bits;
    memcpy(&single, &half, 4);
    if (op != COIL_T_FP32) return coil_double_of(bits);
    return single == single ? (double)single : coil_wide_nan(half);
}
/* Returns the result of an operation that is a NaN (COIL 7.2): the first operand that is a NaN, made
 * quiet, or the negative quiet NaN if no operand is one. Of two NaNs C leaves the choice to the
 * compiler, and RISC-V gives neither. A NaN that x86-64 makes is positive on ARM, RISC-V and s390x. */
static inline double coil_nan_of(double a, double b)
{
    uint64_t bits;
    double first = a == a ? b : a;
    if (first == first) return coil_double_of(UINT64_C(0xfff8000000000000));
    memcpy(&bits, &first, 8);
    return coil_double_of(bits | UINT64_C(1) << 51);
}
static inline uint64_t coil_real_bits(uint8_t op, double value)
{
    float single = (float)value;
    uint32_t half;
    uint64_t bits;
    memcpy(&half, &single, 4);
    memcpy(&bits, &value, 8);
    if (op != COIL_T_FP32) return bits;
    if (value == value) return half;
    return (uint32_t)(bits >> 63) << 31 | 0x7fc00000 | (uint32_t)(bits >> 29 & 0x3fffff);
}

/* Converts a value as MOV does. */
uint64_t coil_convert_bits(uint64_t value, uint8_t from, uint8_t to, bool saturate);
/* Returns the common type of two operands. */
uint8_t coil_common(uint8_t a, uint8_t b);

struct coil_operation {
    uint8_t opcode, type;   /* the type T of the operation */
    int saturate;           /* the type of the destination to clamp to, or -1 */
    uint64_t a, b, c;       /* operands in T; b may be a shift count or bit number */
    bool carry;             /* carry into ADDC and SUBB */
    uint64_t result;        /* in T, or in the type of the destination if it saturates */
    uint64_t second;        /* the remainder of DIVMOD */
    uint8_t flags, written; /* of enum coil_flag; written: as the table says for the opcode */
    bool in_destination;    /* the result has the type of the destination already */
};
void coil_operate(struct coil_operation *o);

bool coil_condition(uint8_t condition, uint8_t flags);
