/* Defines the struct of penta/profile.h: what was counted, without the machine that counted it. */
#pragma once
#include "penta/analysis/structure_struct.h"
#include "penta/profile.h"

struct penta_profile {
    penta_structure structure;
    uint64_t *counts, *costs; /* the count and cost of each instruction of the map; costs may be
                               * NULL */
    const char *cost_name;
    bool sampled; /* The counts are samples, not executions. */
    penta_path *paths;
    size_t path_count, path_capacity;
    uint64_t total, total_cost;
    uint64_t unknown; /* samples without a known instruction, which are part of the total */
};

/* Reads the option 'weight', which says whether to weigh by cost. */
bool profile_weight(const penta_profile *p, const penta_option *options, size_t count,
                    bool *by_cost, penta_error *err);
/* Checks that the profile has counts. Returns false with an error when it has samples, because
 * they do not tell what never ran. */
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
/* Writes the text of the instruction at pc so that it is safe to print. */
void profile_print_at(const penta_profile *p, uint64_t pc, struct writer *out);
/* Returns for each path its weight together with the weight of all paths below it. The caller
 * frees the array, which is NULL when memory ran out. */
uint64_t *profile_inclusive(const penta_profile *p, bool by_cost);
