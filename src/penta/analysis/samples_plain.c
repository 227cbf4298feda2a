/* Replaces samples.c on hosts on which no engine compiles, so that nothing can be sampled. */
#include "penta/analysis/samples.h"

struct native_state samples_state(const void *context)
{
    (void)context;
    return (struct native_state){0};
}
