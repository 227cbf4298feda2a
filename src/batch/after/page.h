/* What a page about results shows, counted from their lines. */
#pragma once
#include "base/writer.h"

struct tally_row {
    char *name;
    uint64_t count, bytes; /* bytes: of the files that were counted */
    char *source;          /* the first one */
};
struct tally { /* counts by name */
    struct tally_row *rows;
    size_t count, capacity, used; /* a table of hashes: count is a power of 2 */
    bool failed;
};
void tally_add(struct tally *t, penta_bytes name, uint64_t count, uint64_t bytes,
               penta_bytes source);
/* Sorts the rows, the largest count first; afterwards nothing may be added. Gives how many there are. */
size_t tally_sort(struct tally *t);
void tally_free(struct tally *t);
