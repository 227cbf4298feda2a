/* Functions that have names are ranges of the debug sections, or exports. */
#pragma once
#include "core/driver.h"
#include "pvm/pvm.h"

struct pvm_named_code {
    uint32_t pc;
    penta_bytes space, name; /* `space` is the namespace of the function and may be empty. */
    /* `range` is the index of a range of the debug sections, or SIZE_MAX for an export. */
    size_t range;
};

enum { PVM_JAM_ENTRIES = 2 };
/* These are the names of the entry points of standard programs. */
extern const char *const pvm_jam_entry_names[];
/* Decides which export becomes which entry point. An export that has the name of an entry point
 * goes there; the others take the places that are left, in their order. Returns false when a
 * place would be empty. */
bool pvm_jam_order(const penta_bytes *names, size_t count, size_t *order);
/* Gives entry point i of a standard program of JAM. Entry points are at fixed places: first
 * refine (in an authorizer is-authorized), then accumulate. Returns false when no instruction is
 * there, or when there is no such entry point. */
bool pvm_jam_entry(const struct pvm_program *p, size_t i, struct pvm_export *out);
/* Returns the functions in the order of their pcs, in an array that the caller frees. Returns
 * NULL when memory ran out. */
struct pvm_named_code *pvm_functions(const struct pvm_program *p, size_t *count);
void pvm_parts(const penta_module *module, penta_part_report *fn, void *user);
