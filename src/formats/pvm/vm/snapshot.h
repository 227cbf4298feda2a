/* The state of a machine as bytes, which any machine of the same program can load. */
#pragma once
#include "pvm/vm/vm.h"

bool pvm_vm_save(const penta_vm *vm, struct writer *out);
bool pvm_vm_load(penta_vm *vm, penta_bytes saved, penta_error *err);
