/* Growing arrays: a pointer, a count and a capacity in the owner's struct.
 *
 *     if (!ARRAY_GROW(list->items, list->capacity, list->count, err)) return false;
 *     list->items[list->count++] = item; */
#pragma once
#include "base/error.h"

/* Makes the array large enough for `need` items of `item` bytes, growing by half at least. `items`
 * points to the array's pointer. False: no memory, or the size overflows; then nothing changed. */
bool array_reserve(void *items, size_t *capacity, size_t need, size_t item);

/* So many bytes, zeros; NULL with the error "no memory for a machine", where `what` is "a machine". */
void *zeros_new(size_t bytes, const char *what, penta_error *err);

/* A copy of `count` items of `item` bytes; NULL: no memory. */
void *array_copy(const void *items, size_t count, size_t item);

/* `need` is evaluated twice: the test is here so that appending calls nothing. */
#define ARRAY_RESERVE(items, capacity, need)                                                       \
    ((need) <= (capacity) || array_reserve(&(items), &(capacity), (need), sizeof *(items)))

/* For one more; false with an error. */
#define ARRAY_GROW(items, capacity, count, err)                                                    \
    (ARRAY_RESERVE(items, capacity, (count) + 1) ||                                                \
     error_at(err, BASE_MEMORY, 0, "no memory for %zu items", (size_t)(count) + 1))

/* Sets i, a size_t, to the first index in from .. to - 1 for which the condition on i holds, or to
 * `to`. It must hold for all after the first. */
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
