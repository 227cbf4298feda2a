/* Replaces inputs_json.c in builds without a JSON reader. Inputs then come only from tables. */
#include "tvmr/vm/inputs.h"

bool tvmr_inputs_json(struct tvmr_vm *vm, penta_bytes text, penta_error *err)
{
    (void)vm, (void)text;
    return error_at(err, BASE_UNSUPPORTED, 0, "this build reads no JSON");
}
