/* Native code calls these functions of the library libpenta_coil for instructions without code
 * of their own. They are the functions of the interpreter, but work on the memory of the
 * process. Each thread has a machine with V6 to V15, the flags and the data stack. Native code
 * finds it by a symbol whose name has a number; the number changes when the structs that
 * describe instructions change. */
#pragma once
#include "coil/vm/vm.h"

#define COIL_RT_MACHINE "penta_coil_rt_machine_1"

/* These functions execute an instruction; `slots` are the variables of the function that
 * contains it. A trap ends the process. */
void penta_coil_rt_step(struct coil_vm *vm, const struct coil_step *step, uint64_t *slots);
void penta_coil_rt_port(struct coil_vm *vm, const struct coil_step *step, uint64_t *slots);
uint64_t penta_coil_rt_value(struct coil_vm *vm, const struct coil_step *step, uint64_t *slots,
                             unsigned operand);
uint64_t penta_coil_rt_condition(struct coil_vm *vm, unsigned condition);
