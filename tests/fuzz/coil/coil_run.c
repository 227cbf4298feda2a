/* Runs any text that assembles, also if validation would refuse it. The run must stop without a
 * crash and within its fuel, and the machine must load its own snapshot. */
#include "fuzz.h"
#include "core/driver.h"
#include "core/engine.h"

static void coil_run_answer(penta_vm *vm, const penta_stop *stop)
{
    penta_error err;
    uint64_t byte = 65;
    penta_vm_answer(vm, &byte, stop->detail == 2, &err);
}

void fuzz_one(const uint8_t *data, size_t size)
{
    penta_error err = {0};
    penta_module *m =
        penta_assemble((penta_bytes){data, size}, "coil", NULL, 0, ignore_finding, NULL);
    penta_vm *vm = m ? penta_vm_new(m, NULL, NULL, 0, NULL, &err) : NULL;
    penta_stop stop = {0};
    for (int i = 0; vm && i < 20; i++) {
        penta_vm_run(vm, 997, &stop);
        if (stop.steps > 997) check_failed("more steps than fuel", stop.steps, 997);
        if (stop.kind == PENTA_STOP_HOST)
            coil_run_answer(vm, &stop);
        else if (stop.kind != PENTA_STOP_FUEL)
            break;
    }
    penta_buffer saved = {0};
    if (vm && (!penta_vm_save(vm, &saved, &err) ||
               !penta_vm_load(vm, (penta_bytes){saved.data, saved.size}, &err)))
        check_failed(err.message, err.code, err.offset);
    penta_buffer_free(&saved);
    penta_vm_free(vm);
    penta_close(m);
}
