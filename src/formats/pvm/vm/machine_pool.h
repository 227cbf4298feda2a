/* Machines of one module, kept ready: giving one back resets what its user changed. Threads may
 * share the pool; a machine belongs to one thread at a time. */
#pragma once
#include "pvm/vm/vm.h"

struct pvm_pool;

/* engine NULL: compiled code where that is possible. */
struct pvm_pool *pvm_pool_new(const penta_module *module, const char *engine,
                              const penta_option *options, size_t count, penta_error *err);
struct pvm_vm *pvm_pool_take(struct pvm_pool *pool, penta_error *err);
void pvm_pool_return(struct pvm_pool *pool, struct pvm_vm *vm);
/* Machines that are still in use are freed when they are closed. */
void pvm_pool_free(struct pvm_pool *pool);
