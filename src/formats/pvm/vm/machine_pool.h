/* Machines of one module, kept ready: taking one from the pool is resetting what its last user
 * touched. The pool is shared between threads, each machine belongs to one at a time. */
#pragma once
#include "pvm/vm/vm.h"

struct pvm_pool;

/* engine NULL: compiled code where that is possible. */
struct pvm_pool *pvm_pool_new(const penta_module *module, const char *engine,
                              const penta_option *options, size_t count, penta_error *err);
struct pvm_vm *pvm_pool_take(struct pvm_pool *pool, penta_error *err);
void pvm_pool_return(struct pvm_pool *pool, struct pvm_vm *vm);
/* Machines that are still out go away when they are closed. */
void pvm_pool_free(struct pvm_pool *pool);
