/* Functions that have names: the ranges of the debug sections, and exports. */
#pragma once
#include "core/driver.h"
#include "pvm/pvm.h"

struct pvm_named_code {
    uint32_t pc;
    penta_bytes space, name; /* space may be empty */
    size_t range;            /* of the debug sections; SIZE_MAX: an export */
};

enum { PVM_JAM_ENTRIES = 2 };
extern const char *const pvm_jam_entry_names[]; /* of those with a name */
/* Which export becomes which entry point: one that is called after an entry point goes there, the
 * others take the places that are left, in their order. False: a place would be empty. */
bool pvm_jam_order(const penta_bytes *names, size_t count, size_t *order);
/* Entry i of a standard program of JAM, which are at fixed places: refine, or is-authorized of an
 * authorizer, and accumulate. False: no instruction is there, or there is no such entry. */
bool pvm_jam_entry(const struct pvm_program *p, size_t i, struct pvm_export *out);
/* In order of pc; free the array. NULL: no memory. */
struct pvm_named_code *pvm_functions(const struct pvm_program *p, size_t *count);
void pvm_parts(const penta_module *module, penta_part_report *fn, void *user);
