/* Option 'profile' (PVM 14): the rules that differ between specifications at run time and do not
 * depend on the ISA. */
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "pvm/vm/gas.h"

extern const struct pvm_profile {
    const char *name;
    uint32_t trap_below;    /* a fault in a page below this address is a trap */
    bool faults;            /* page faults are reported even without option 'paging' */
    bool gp_targets;        /* the opcode at a jump target must be defined */
    bool late_branches;     /* an illegal branch traps only when it is taken */
    bool fall_off;          /* control that runs off the end of the code meets an implied trap */
    bool wraps;             /* accesses go on at address 0 after 2^32 - 1 */
    bool cmov_reads_old;    /* pipeline gas: a conditional move waits for its old value */
    bool gp_sbrk;           /* sbrk returns the start of the new memory */
    enum pvm_gas_model gas; /* the default gas model */
} pvm_profiles[];           /* the last row has a NULL name */

const char *pvm_profile_name(size_t i);                       /* NULL comes after the last name */
const struct pvm_profile *pvm_profile_find(const char *name); /* NULL: no such profile */
