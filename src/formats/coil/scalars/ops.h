/* Defines the meaning of operations on scalars (COIL 7.2, COIL 7.8) once for every engine. A
 * scalar is passed in 64 bits: integers are extended according to their own type, and FP32 and
 * FP64 are passed as their bits, with zeros above. */
#pragma once
#include "coil/coil.h"

/* Returns the low bytes of `raw` as a value of a type. */
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
/* Converts a NaN of FP32 to a double with the same bits. The processor's conversion would lose
 * them: RISC-V gives the same NaN for all NaNs. */
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
/* Returns the NaN that is the result of an operation (COIL 7.2): the first operand that is a
 * NaN, made quiet, or the negative quiet NaN if no operand is a NaN. The C operators cannot be
 * used: for two NaNs the compiler may choose either, and RISC-V gives neither; a new NaN is
 * negative on x86-64, but positive on ARM, RISC-V and s390x. */
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

/* Converts a value from one type to another as MOV does. */
uint64_t coil_convert_bits(uint64_t value, uint8_t from, uint8_t to, bool saturate);
/* Returns the common type of two operand types. */
uint8_t coil_common(uint8_t a, uint8_t b);

struct coil_operation {
    uint8_t opcode, type; /* type: the type in which the operation computes */
    int saturate;         /* the destination type to whose range the result is limited, or -1 */
    uint64_t a, b, c;     /* operands in `type`; b may be a shift count or bit number */
    bool carry;           /* carry that goes into ADDC and SUBB */
    /* In `type`, or in the destination's type if the result is limited to that. */
    uint64_t result;
    uint64_t second; /* the remainder of DIVMOD */
    /* Bits of enum coil_flag; written: the flags that isa.def lists for the opcode. */
    uint8_t flags, written;
    bool in_destination; /* true if the result has the type of the destination already */
};
void coil_operate(struct coil_operation *o);

bool coil_condition(uint8_t condition, uint8_t flags);
