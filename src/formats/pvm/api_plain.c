/* Replaces jit/api.c in builds without a compiler for the host's machine code. */
#include "penta/pvm.h"
#include "pvm/pvm.h"

penta_pvm_compiled *penta_pvm_compile(const penta_module *module, const penta_option *options,
                                      size_t count, const volatile int *stop,
                                      penta_pvm_compilation *result, penta_error *err)
{
    (void)module, (void)options, (void)count, (void)stop, (void)result;
    *err = (penta_error){0};
    error_at(err, BASE_UNSUPPORTED, 0, "this build has no compiler for this host");
    return NULL;
}

void penta_pvm_compiled_free(penta_pvm_compiled *compiled) { (void)compiled; }

bool penta_pvm_compiled_at(const penta_pvm_compiled *compiled, uint32_t from,
                           penta_pvm_instruction *out)
{
    (void)compiled, (void)from, (void)out;
    return false;
}

bool penta_pvm_difference_of(const penta_vm *vm, penta_pvm_difference *out)
{
    (void)vm, (void)out;
    return false;
}
