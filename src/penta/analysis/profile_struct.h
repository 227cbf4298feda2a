/* The inside of penta/profile.h: what was counted, apart from the machine that did. */
#pragma once
#include "penta/analysis/structure_struct.h"
#include "penta/profile.h"

struct penta_profile {
    penta_structure structure;
    uint64_t *counts, *costs; /* by instruction of the map; costs may be NULL */
    const char *cost_name;
    bool sampled; /* counts are samples, not executions */
    penta_path *paths;
    size_t path_count, path_capacity;
    uint64_t total, total_cost;
    uint64_t unknown; /* samples without an instruction: part of the total */
};

/* The option 'weight': whether to weigh by cost. */
bool profile_weight(const penta_profile *p, const penta_option *options, size_t count,
                    bool *by_cost, penta_error *err);
/* False with an error: it has samples, which do not say what never ran. */
bool profile_counted(const penta_profile *p, penta_error *err);
static inline const char *profile_unit(const penta_profile *p)
{
    return p->sampled ? "samples" : "instructions";
}
static inline const char *profile_function_name(const penta_profile *p, size_t function)
{
    if (function == SIZE_MAX) return p->sampled ? "[other]" : "[deeper]";
    return p->structure.map->functions[function].name;
}
/* The text of the instruction at pc, safe to print. */
void profile_print_at(const penta_profile *p, uint64_t pc, struct writer *out);
/* By path: its weight with that of all below it. Free it; NULL: no memory. */
uint64_t *profile_inclusive(const penta_profile *p, bool by_cost);
