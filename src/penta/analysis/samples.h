/* Declares samples of compiled code. They are taken and counted in a signal handler, so all
 * memory is allocated before the first sample. */
#pragma once
#include "core/engine.h"
#include "core/structure/code_map.h"

struct sample_path {
    uint32_t parent, function; /* numbers; UINT32_MAX for none */
    uint32_t child, sibling;
    uint64_t samples; /* samples in the function itself */
};

struct samples {
    const struct code_map *map;
    uint64_t *counts; /* the samples of each instruction */
    struct sample_path *paths;
    uint32_t path_count, top; /* `top` is the first path without a parent. */
    uint64_t unknown;         /* samples for which no instruction is known */
    uint64_t unplaced;        /* samples for which no path was left */
};

void samples_free(struct samples *s); /* `s` may be NULL. */
/* Returns the registers in the context that a signal handler was given (samples_context.c,
 * samples_plain.c). */
struct native_state samples_state(const void *context);
