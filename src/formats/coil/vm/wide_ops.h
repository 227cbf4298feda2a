/* Integers of any width up to 128 bits (COIL 7.17): CINT and CUNT, and other numbers that are
 * operands of the same operation. As ops.h does for scalars, this defines the meaning of the
 * operations once for every engine. */
#pragma once
#include "base/u128.h"
#include "coil/scalars/ops.h"

struct coil_width {
    uint8_t bits;
    bool is_signed;
};
/* This struct has a value of a scalar type, or of CINT or CUNT. An integer is extended to 128
 * bits according to its own type. A real has its bits at the low end. */
struct coil_number {
    uint8_t op;              /* the scalar type, CINT or CUNT */
    struct coil_width width; /* width of an integer; not used for a real */
    u128 value;
};

struct coil_width coil_width_of(const struct coil_type *t); /* gives the width of an integer type */
u128 coil_extend(struct coil_width width, u128 value);
/* Converts a number as MOV does (COIL 7.8). */
struct coil_number coil_number_convert(struct coil_number n, uint8_t to, struct coil_width width,
                                       bool saturate);
/* Returns the number 0 in the common type of two numbers. */
struct coil_number coil_number_common(struct coil_number a, struct coil_number b);

struct coil_wide_operation {
    uint8_t opcode;
    struct coil_width type; /* the type in which the operation computes */
    /* If this is not NULL, the result is limited to the range of this type, which is the
     * destination's. */
    const struct coil_width *to;
    u128 a, b, c; /* operands in that type; b may be a shift count or bit number */
    bool carry;   /* carry that goes into ADDC and SUBB */
    /* `result` has the type of the operation, or *to if that is set; `second` is the remainder
     * of DIVMOD. */
    u128 result, second;
    uint8_t flags;
    bool in_destination;
};
void coil_wide_operate(struct coil_wide_operation *o);
