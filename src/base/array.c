/* Has the functions behind the macros of array.h, which grow arrays, and functions that make
 * zeroed memory and copies. */
#include "base/array.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

bool array_reserve(void *items, size_t *capacity, size_t need, size_t item)
{
    enum { FIRST = 16 };
    if (need <= *capacity) return true;
    size_t grown = *capacity < FIRST ? FIRST : *capacity + *capacity / 2;
    if (grown < need) grown = need;
    void *data;
    memcpy(&data, items, sizeof data);
    if (grown > SIZE_MAX / item || !(data = realloc(data, grown * item))) return false;
    memcpy(items, &data, sizeof data);
    *capacity = grown;
    return true;
}

void *array_copy(const void *items, size_t count, size_t item)
{
    void *copy = count <= SIZE_MAX / item ? malloc(count * item) : NULL;
    if (copy) memcpy(copy, items, count * item);
    return copy;
}

void *zeros_new(size_t bytes, const char *what, penta_error *err)
{
    void *zeros = calloc(1, bytes);
    if (!zeros) error_at(err, BASE_MEMORY, 0, "no memory for %s", what);
    return zeros;
}
