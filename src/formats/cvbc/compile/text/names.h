/* Where names are in a list that only grows. A source may declare as many names as it has words, and asks for one at
 * nearly every word. */
#pragma once
#include "penta/penta.h"

/* The newest name of each hash, and for each name the older one with the same: number + 1, 0: none. */
enum { NAME_HEADS = 4096 };
struct name_index {
    uint32_t heads[NAME_HEADS];
    uint32_t *older; /* free it */
    size_t count, capacity;
};

/* The name of the next number; they begin with 0. False: no memory. */
bool name_index_add(struct name_index *x, penta_bytes name);
/* For all numbers, the newest first, whose names may be this one (they are equal in their hash):
 *     for (uint32_t i = name_index_first(x, name); i; i = x->older[i - 1]) ... the number is i - 1 */
uint32_t name_index_first(const struct name_index *x, penta_bytes name);
