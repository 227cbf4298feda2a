/* Replaces vm/vm.c and host/host.c of the formats in builds without machines. Engines then
 * refuse to open, and hosts are never asked. */
#include "core/engine.h"
#include "core/host.h"

static penta_vm *machines_refuse(const penta_module *module, const penta_option *options,
                                 size_t count, penta_error *err)
{
    (void)module, (void)options, (void)count;
    error_at(err, BASE_UNSUPPORTED, 0, "this build has no machines");
    return NULL;
}

#define FORMAT(format)                                                                             \
    const struct engine format##_interp = {.name = "interp", .open = machines_refuse};             \
    const struct host format##_host = {.open = NULL};
#define EXTRA_DRIVER(name)
#include "penta/registry.def"

/* In builds without compilers, the engines that compile open these machines. */
penta_vm *pvm_vm_open(const penta_module *module, const penta_option *options, size_t count,
                      penta_error *err)
{
    return machines_refuse(module, options, count, err);
}

penta_vm *coil_vm_open_interp(const penta_module *module, const penta_option *options, size_t count,
                              penta_error *err)
{
    return machines_refuse(module, options, count, err);
}
