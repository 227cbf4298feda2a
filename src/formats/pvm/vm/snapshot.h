/* Declares the walk over a machine's state, for snapshots (core/snapshot.h). */
#pragma once
#include "core/snapshot.h"
#include "pvm/vm/vm.h"

void pvm_vm_walk(penta_vm *vm, struct walk *w);
