/* Declares what a page about results shows. It is counted from their lines. */
#pragma once
#include "base/writer.h"

struct tally_row {
    char *name;
    uint64_t count, bytes; /* `bytes` is the size of the files that were counted. */
    char *source;          /* the first source that was counted under this name */
};
struct tally { /* A tally counts by name. */
    struct tally_row *rows;
    size_t count, capacity, used; /* a hash table; `count` is a power of 2 */
    bool failed;
};
void tally_add(struct tally *t, penta_bytes name, uint64_t count, uint64_t bytes,
               penta_bytes source);
/* Sorts the rows by falling count and returns how many there are. Nothing may be added
 * afterwards. */
size_t tally_sort(struct tally *t);
void tally_free(struct tally *t);
