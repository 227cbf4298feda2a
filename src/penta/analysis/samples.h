/* Samples of compiled code, added up where they are taken: in a signal handler. All memory is there
 * before the first one. */
#pragma once
#include "core/engine.h"
#include "core/structure/code_map.h"

struct sample_path {
    uint32_t parent, function; /* UINT32_MAX: none */
    uint32_t child, sibling;
    uint64_t samples; /* in the function itself */
};

struct samples {
    const struct code_map *map;
    uint64_t *counts; /* by instruction */
    struct sample_path *paths;
    uint32_t path_count, top; /* top: the first path without a parent */
    uint64_t unknown;         /* samples that no instruction is known for */
    uint64_t unplaced;        /* those that no path was left for */
};

void samples_free(struct samples *s); /* NULL is fine */
/* samples_context.c, samples_plain.c: the registers that a signal handler was given. */
struct native_state samples_state(const void *context);
