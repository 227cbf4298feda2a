/* Declares how a session opens a machine. The session opens the host of the program afterwards. */
#pragma once
#include "penta/penta.h"

/* Does what penta_vm_new does, and gives in *host_state what the host prepared for its machine. The caller hands it
 * to `open` or to `close` of the host, even when the machine is NULL. It stays as it is when nothing was prepared. */
penta_vm *vm_open(const penta_module *module, const char *engine, const penta_option *options,
                  size_t count, const volatile int *stop, void **host_state, penta_error *err);
