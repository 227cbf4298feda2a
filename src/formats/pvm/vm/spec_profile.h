/* A profile, which option 'profile' chooses (PVM 14), has the rules that differ between
 * specifications at run time and do not depend on the ISA. */
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "pvm/vm/gas.h"

extern const struct pvm_profile {
    const char *name;
    uint32_t trap_below; /* A fault in a page below this address is a trap. */
    bool faults;         /* Page faults are reported even without option 'paging'. */
    bool gp_targets;     /* The opcode at a jump target must be defined. */
    bool late_branches;  /* An illegal branch traps only when it is taken. */
    bool fall_off;       /* Control that runs off the end of the code meets an implied trap. */
    bool wraps;          /* Accesses go on at address 0 after 2^32 - 1. */
    /* In pipeline gas models, a conditional move waits for its old value. */
    bool cmov_reads_old;
    bool gp_sbrk;           /* The instruction sbrk returns the start of the new memory. */
    enum pvm_gas_model gas; /* the default gas model */
} pvm_profiles[];           /* The last row has a NULL name. */

/* Returns NULL after the last name. */
const char *pvm_profile_name(size_t i);
/* Returns NULL when there is no such profile. */
const struct pvm_profile *pvm_profile_find(const char *name);
