/* Shows changed memory to a person: the first runs of bytes, then where the rest is and how much it is. */
#pragma once
#include "base/writer.h"

enum { MEMORY_RUNS_SHOWN = 8, MEMORY_REGIONS = 8, MEMORY_GAP = 4096 };

struct memory_summary {
    penta_visitor next;
    struct writer *out;
    const char *hint;       /* a text about how to see everything, or NULL */
    unsigned depth;         /* the depth of the walk */
    bool inside;            /* The walk is in the list `memory` of the machine. */
    uint64_t runs, address; /* the runs so far, and the address of the run in which the walk is */
    /* Runs that are not shown and are closer to each other than MEMORY_GAP. */
    struct memory_region {
        uint64_t from, to, runs, bytes;
    } regions[MEMORY_REGIONS], others;
    size_t region_count;
};
penta_visitor memory_summary_visitor(struct memory_summary *s);
