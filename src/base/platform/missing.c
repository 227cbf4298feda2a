/* Keeps the name of the part for which this build refused something first. Any thread may ask. */
#include "base/platform/missing.h"
#include <stdatomic.h>
#include <stddef.h>

static _Atomic(const char *) missed;

bool missing_refuse(const char *part)
{
    const char *none = NULL;
    atomic_compare_exchange_strong(&missed, &none, part);
    return false;
}

const char *missing_part(void) { return atomic_exchange(&missed, NULL); }
