/* What native code calls for instructions without code of their own (libpenta_coil). They are the
 * interpreter's functions, but they work on the memory of the process. The thread's machine holds
 * V6 to V15, the flags and the data stack. Native code finds it by a symbol whose number changes
 * when the structs change that describe instructions. */
#pragma once
#include "coil/vm/vm.h"

#define COIL_RT_MACHINE "penta_coil_rt_machine_1"

/* `slots` are the variables of the function. A trap ends the process. */
void penta_coil_rt_step(struct coil_vm *vm, const struct coil_step *step, uint64_t *slots);
void penta_coil_rt_port(struct coil_vm *vm, const struct coil_step *step, uint64_t *slots);
uint64_t penta_coil_rt_value(struct coil_vm *vm, const struct coil_step *step, uint64_t *slots,
                             unsigned operand);
uint64_t penta_coil_rt_condition(struct coil_vm *vm, unsigned condition);
