/* Without a JSON reader weights come from NPY and CSV only. */
#include "tvmr/format/weights.h"

bool tvmr_weights_from_json(penta_bytes text, struct writer *out, penta_error *err)
{
    (void)text, (void)out;
    return error_at(err, BASE_UNSUPPORTED, 0, "this build reads no JSON");
}
