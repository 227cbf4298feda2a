/* Keeps machines of one module ready. When a machine is given back, everything that its user
 * changed is reset. Threads may share the pool; a machine belongs to one thread at a time. */
#pragma once
#include "pvm/vm/vm.h"

struct pvm_pool;

/* Makes a pool. When `engine` is NULL, the machines run compiled code where that is possible. */
struct pvm_pool *pvm_pool_new(const penta_module *module, const char *engine,
                              const penta_option *options, size_t count, penta_error *err);
struct pvm_vm *pvm_pool_take(struct pvm_pool *pool, penta_error *err);
void pvm_pool_return(struct pvm_pool *pool, struct pvm_vm *vm);
/* Frees the pool. Machines that are still in use are freed when they are closed. */
void pvm_pool_free(struct pvm_pool *pool);
