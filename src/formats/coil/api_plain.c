/* These are the functions of penta/coil.h about compiled code, for hosts that the compiler does
 * not support. They take the place of jit/api.c and native/api.c, and report that there is no
 * compiler. */
#include "base/error.h"
#include "penta/coil.h"

const char *penta_coil_pass_name(size_t number)
{
    (void)number;
    return NULL;
}

bool penta_coil_compiled(const penta_vm *vm, penta_coil_compilation *result)
{
    (void)vm, (void)result;
    return false;
}

bool penta_coil_pass_text(const penta_vm *vm, const char *pass, penta_buffer *out, penta_error *err)
{
    (void)vm, (void)pass, (void)out;
    *err = (penta_error){0};
    return error_at(err, BASE_UNSUPPORTED, 0, "this build has no compiler for this host");
}

bool penta_coil_compile(const penta_module *module, const penta_option *options, size_t count,
                        const volatile int *stop, penta_buffer *out, penta_error *err)
{
    (void)module, (void)options, (void)count, (void)stop, (void)out;
    return error_at(err, BASE_UNSUPPORTED, 0, "this build has no compiler to x86-64");
}
