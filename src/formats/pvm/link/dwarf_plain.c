/* For builds without libdw: no source lines. */
#include "pvm/link/link.h"

bool link_source_at(struct link *l, uint32_t object, uint64_t address, struct source_place *out)
{
    (void)l;
    (void)object;
    (void)address;
    (void)out;
    return false;
}

void link_source_free(struct link_object *object) { (void)object; }
