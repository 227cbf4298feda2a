#include "pvm/profile.h"
#include <string.h>

const struct pvm_profile pvm_profiles[] = {
    {.name = "polkavm", .trap_below = 0x4000},
    {.name = "gp-0.5", .trap_below = 0x4000, .faults = true, .fall_off = true, .gp_sbrk = true},
    {.name = "gp-0.8", .trap_below = 0x10000, .faults = true, .gp_targets = true,
     .late_branches = true, .wraps = true, .cmov_reads_old = true, .gp_sbrk = true,
     .full_gas = true},
    {.name = NULL}};

const struct pvm_profile *pvm_profile_find(const char *name)
{
    for (const struct pvm_profile *p = pvm_profiles; p->name; p++)
        if (!strcmp(p->name, name)) return p;
    return NULL;
}
