/* Each group of instructions in their general form has a file of its own. All functions return 0
 * or the number of a trap. */
#pragma once
#include "coil/vm/bulk.h"

static inline bool coil_is_array(const struct coil_type *t)
{
    uint8_t family = t ? coil_types[t->op].family : COIL_F_NONE;
    return family == COIL_F_VECTOR || family == COIL_F_MATRIX || family == COIL_F_TENSOR;
}

/* flags.c defines the function below. */
/* Sets the flags that isa.def lists for the instruction, except those in `kept`. */
void coil_flags_set(struct coil_vm *vm, uint8_t opcode, uint8_t flags, uint8_t kept);

/* step_move.c defines the functions below. */
uint32_t coil_move(struct coil_vm *vm, const struct coil_step *s, const struct coil_place *to,
                   const struct coil_place *from);
uint32_t coil_run_move(struct coil_vm *vm, const struct coil_step *s);
uint32_t coil_run_member(struct coil_vm *vm, const struct coil_step *s);
/* step_arith.c defines the functions below. */
struct coil_roles { /* the index of each operand by its role, or -1 if there is none */
    int to, a, b, c;
};
struct coil_roles coil_roles_of(const struct coil_step *s);
/* Tells whether the second operand has no influence on the type of the operation. */
bool coil_keeps_value_type(uint8_t opcode);
uint8_t coil_operation_type(const struct coil_step *s, const struct coil_roles *r);
/* Tells whether SATURATE of the destination has an effect on the operation. */
bool coil_clamps(uint8_t opcode);
uint32_t coil_run_arith(struct coil_vm *vm, const struct coil_step *s);
/* step_wide.c executes instructions with an operand that is a CINT or CUNT. */
/* Moves a value between places. `through` is the type to which the value is converted first, or
 * NULL. */
uint32_t coil_move_wide(struct coil_vm *vm, const struct coil_place *to,
                        const struct coil_place *through, const struct coil_place *from);
uint32_t coil_run_wide(struct coil_vm *vm, const struct coil_step *s, const struct coil_roles *r);
/* step_memory.c defines the functions below. */
uint32_t coil_run_stack(struct coil_vm *vm, const struct coil_step *s);
uint32_t coil_run_memory(struct coil_vm *vm, const struct coil_step *s);
uint32_t coil_run_atomic(struct coil_vm *vm, const struct coil_step *s);
/* step_vector.c defines the functions below. */
uint32_t coil_run_vector(struct coil_vm *vm, const struct coil_step *s);
uint8_t coil_value_flags(uint8_t type, uint64_t value); /* gives the flags Z, S and N of a value */
double coil_as_double(uint8_t type, uint64_t value);
/* Does one operation in a type, and adds its flags C, V and N to *flags. */
uint64_t coil_combine(uint8_t opcode, uint8_t type, uint64_t a, uint64_t b, uint8_t *flags);
/* step_matrix.c defines the functions below. */
uint32_t coil_run_matrix(struct coil_vm *vm, const struct coil_step *s);
uint32_t coil_run_product(struct coil_vm *vm, const struct coil_step *s, unsigned left,
                          unsigned right);
