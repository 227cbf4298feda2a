/* Has the table of profiles (spec_profile.h), and finds them by name. */
#include "pvm/vm/spec_profile.h"
#include <string.h>

/* These rules are common to Gray Paper 0.7 and 0.8, of which only the gas models differ. */
#define GP_RULES                                                                                   \
    .trap_below = 0x10000, .faults = true, .gp_targets = true, .late_branches = true,              \
    .wraps = true, .cmov_reads_old = true, .gp_sbrk = true

const struct pvm_profile pvm_profiles[] = {
    {.name = "polkavm", .trap_below = 0x4000},
    {.name = "gp-0.5", .trap_below = 0x4000, .faults = true, .fall_off = true, .gp_sbrk = true},
    {.name = "gp-0.7", GP_RULES, .gas = PVM_GAS_STEP},
    {.name = "gp-0.8", GP_RULES, .gas = PVM_GAS_FULL_L2},
    {.name = NULL}};

enum { PROFILES = sizeof pvm_profiles / sizeof *pvm_profiles };

const char *pvm_profile_name(size_t i) { return i < PROFILES ? pvm_profiles[i].name : NULL; }

const struct pvm_profile *pvm_profile_find(const char *name)
{
    for (const struct pvm_profile *p = pvm_profiles; p->name; p++)
        if (!strcmp(p->name, name)) return p;
    return NULL;
}
