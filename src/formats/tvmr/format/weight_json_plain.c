/* Replaces weight_json.c in builds without a JSON reader. Weights then come only from NPY and
 * CSV. */
#include "tvmr/format/weights.h"

bool tvmr_weights_from_json(penta_bytes text, struct writer *out, penta_error *err)
{
    (void)text, (void)out;
    return error_at(err, BASE_UNSUPPORTED, 0, "this build reads no JSON");
}
