/* A hash table over a list of names that only grows. A source may declare as many names as it
 * has words, and asks for one at nearly every word. */
#pragma once
#include "penta/penta.h"

/* heads[h] is 1 + the number of the newest name with hash h, or 0. older[i] is 1 + the number of
 * the next older name with the same hash as name i, or 0. */
enum { NAME_HEADS = 4096 };
struct name_index {
    uint32_t heads[NAME_HEADS];
    uint32_t *older; /* the caller frees this array */
    size_t count, capacity;
};

/* Adds a name with the next number; numbers begin with 0. Returns false if memory ran out. */
bool name_index_add(struct name_index *x, penta_bytes name);
/* Finds the numbers, the newest first, whose names have the same hash as this one:
 *     for (uint32_t i = name_index_first(x, name); i; i = x->older[i - 1]) ... the number is i - 1 */
uint32_t name_index_first(const struct name_index *x, penta_bytes name);
