/* Without a JSON reader there are neither input files nor scripts. */
#include "tvmr/host/script.h"

bool tvmr_script_inputs(struct tvmr_vm *vm, const char *path, penta_error *err)
{
    (void)vm, (void)path;
    return error_at(err, BASE_UNSUPPORTED, 0, "this build reads no JSON");
}

struct tvmr_script *tvmr_script_open(const char *path, penta_error *err)
{
    (void)path;
    error_at(err, BASE_UNSUPPORTED, 0, "this build reads no JSON");
    return NULL;
}

void tvmr_script_close(struct tvmr_script *script) { (void)script; }

bool tvmr_script_answer(struct tvmr_script *script, struct tvmr_vm *vm)
{
    (void)script, (void)vm;
    return false;
}
