/* A growing array is a pointer, a count and a capacity in the owner's struct:
 *
 *     if (!ARRAY_GROW(list->items, list->capacity, list->count, err)) return false;
 *     list->items[list->count++] = item; */
#pragma once
#include "base/error.h"

/* Makes the array large enough for `need` items of `item` bytes; a growing array grows by at
 * least half. `items` points to the array's pointer. Returns false, and changes nothing, when
 * memory ran out or the size overflows. */
bool array_reserve(void *items, size_t *capacity, size_t need, size_t item);

/* Returns `bytes` zeroed bytes, or NULL with an error: "no memory for a machine" when `what` is
 * "a machine". */
void *zeros_new(size_t bytes, const char *what, penta_error *err);

/* Copies `count` items of `item` bytes. Returns NULL when memory ran out. */
void *array_copy(const void *items, size_t count, size_t item);

/* The test stands in the macro so that appending calls no function while there is room; `need`
 * is evaluated twice. */
#define ARRAY_RESERVE(items, capacity, need)                                                       \
    ((need) <= (capacity) || array_reserve(&(items), &(capacity), (need), sizeof *(items)))

/* Makes room for one more item. Evaluates to false, with an error, when memory ran out. */
#define ARRAY_GROW(items, capacity, count, err)                                                    \
    (ARRAY_RESERVE(items, capacity, (count) + 1) ||                                                \
     error_at(err, BASE_MEMORY, 0, "no memory for %zu items", (size_t)(count) + 1))

/* Searches by halving: sets i, a size_t, to the first index in from .. to - 1 for which the
 * condition on i holds, or to `to`. The condition must hold for all indices after the first one. */
#define ARRAY_SEARCH(i, from, to, condition)                                                       \
    do {                                                                                           \
        size_t search_low = (from), search_high = (to);                                            \
        while (search_low < search_high) {                                                         \
            (i) = search_low + (search_high - search_low) / 2;                                     \
            if (condition)                                                                         \
                search_high = (i);                                                                 \
            else                                                                                   \
                search_low = (i) + 1;                                                              \
        }                                                                                          \
        (i) = search_low;                                                                          \
    } while (0)
