/* Replaces state_read.c in builds that cannot read JSON. */
#include "pvm/host/revive/revive.h"

bool revive_state_read(struct pvm_revive *r, const char *path, penta_error *err)
{
    (void)r, (void)path;
    return error_at(err, BASE_UNSUPPORTED, 0, "this build reads no JSON");
}
