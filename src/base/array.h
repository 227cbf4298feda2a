/* Growing arrays: a pointer, a count and a capacity in the owner's struct.
 *
 *     if (!ARRAY_RESERVE(list->items, list->capacity, list->count + 1)) return out_of_memory(err);
 *     list->items[list->count++] = item; */
#pragma once
#include <stdbool.h>
#include <stddef.h>

/* Makes the array large enough for `need` items of `item` bytes, growing by half at least. `items`
 * points to the array's pointer. False: no memory, or the size overflows; then nothing changed. */
bool array_reserve(void *items, size_t *capacity, size_t need, size_t item);

#define ARRAY_RESERVE(items, capacity, need)                                                       \
    array_reserve(&(items), &(capacity), (need), sizeof *(items))
