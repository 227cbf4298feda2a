/* What a debugger asks of kernel blobs: no calls, no lines, and the values beside the memory. */
#include "core/debug/debug_info.h"
#include "base/bytes.h"
#include "kblob/vm/vm.h"

static void variables(const penta_vm *base, size_t frame, penta_variable_report *report, void *user)
{
    const struct kblob_vm *vm = (const struct kblob_vm *)base;
    if (frame) return;
    variable_report(report, user, PENTA_VARIABLE_REGISTER,
                    (penta_field){.name = "last_read", .kind = PENTA_WORD, .as.u = vm->last_read});
    variable_report(report, user, PENTA_VARIABLE_REGISTER,
                    (penta_field){.name = "slept_ms", .kind = PENTA_UINT, .as.u = vm->slept_ms});
}

static bool set(penta_vm *base, penta_bytes name, const penta_value *value)
{
    struct kblob_vm *vm = kblob_vm(base);
    if (bytes_equal(name, bytes_of("slept_ms"))) {
        vm->slept_ms = value_integer(value);
        return true;
    }
    if (!bytes_equal(name, bytes_of("last_read"))) return false;
    vm->last_read = value_integer(value);
    vm->has_read = true;
    return true;
}

const struct debug_info kblob_debug = {.variables = variables, .set = set};
