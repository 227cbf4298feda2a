/* Finds the names of a sketch by their hash, in a table of chains over the indices of the names. */
#include "cvbc/compile/text/names.h"
#include "base/array.h"
#include <stdlib.h>

static uint32_t name_head(penta_bytes name)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < name.size; i++) hash = (hash ^ name.data[i]) * 16777619u;
    return (hash ^ hash >> 12) % NAME_HEADS;
}

bool name_index_add(struct name_index *x, penta_bytes name)
{
    if (!ARRAY_RESERVE(x->older, x->capacity, x->count + 1)) return false;
    uint32_t *head = &x->heads[name_head(name)];
    x->older[x->count++] = *head;
    *head = (uint32_t)x->count;
    return true;
}

uint32_t name_index_first(const struct name_index *x, penta_bytes name)
{
    return x->heads[name_head(name)];
}
