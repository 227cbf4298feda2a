/* Integers of any width up to 128 bits (COIL 7.17): CINT and CUNT, and what other numbers are beside
 * them. The meaning of operations, once for every engine, as ops.h is for scalars. */
#pragma once
#include "base/u128.h"
#include "coil/vm/ops.h"

struct coil_width {
    uint8_t bits;
    bool is_signed;
};
/* A value of a scalar type, or of CINT or CUNT. Integers are extended to 128 bits by their own sign; the
 * bits of a real are the lowest. */
struct coil_number {
    uint8_t op;              /* the scalar type, CINT or CUNT */
    struct coil_width width; /* of an integer */
    u128 value;
};

struct coil_width coil_width_of(const struct coil_type *t); /* of an integer type */
u128 coil_extend(struct coil_width width, u128 value);
/* MOV's conversion (COIL 7.8). */
struct coil_number coil_number_convert(struct coil_number n, uint8_t to, struct coil_width width,
                                       bool saturate);
/* The common type of two numbers; its value is 0. */
struct coil_number coil_number_common(struct coil_number a, struct coil_number b);

struct coil_wide_operation {
    uint8_t opcode;
    struct coil_width type;      /* the operation type T */
    const struct coil_width *to; /* a destination type to clamp to, or NULL */
    u128 a, b, c;                /* in T; shift count or bit number in b */
    bool carry;                  /* into ADDC and SUBB */
    u128 result, second;         /* in T, or in *to; the remainder of DIVMOD */
    uint8_t flags;
    bool in_destination;
};
void coil_wide_operate(struct coil_wide_operation *o);
