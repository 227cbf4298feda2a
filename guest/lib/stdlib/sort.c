/* Implements qsort as a heap sort, because it needs no memory and no input makes it slow. */
#include <stdlib.h>
#include "system/weak.h"

typedef int compare_fn(const void *, const void *);
typedef int compare_more_fn(const void *, const void *, void *);

static void item_swap(char *a, char *b, size_t size)
{
    for (; size; size--, a++, b++) {
        char t = *a;
        *a = *b;
        *b = t;
    }
}

static void heap_sink(char *base, size_t at, size_t count, size_t size, compare_more_fn *compare,
                      void *more)
{
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && compare(base + child * size, base + (child + 1) * size, more) < 0)
            child++;
        if (compare(base + at * size, base + child * size, more) >= 0) return;
        item_swap(base + at * size, base + child * size, size);
    }
}

static void heap_sort(char *items, size_t count, size_t size, compare_more_fn *compare, void *more)
{
    for (size_t i = count / 2; i--;) heap_sink(items, i, count, size, compare, more);
    while (count > 1) {
        count--;
        item_swap(items, items + count * size, size);
        heap_sink(items, 0, count, size, compare, more);
    }
}

static int compare_two(const void *a, const void *b, void *compare)
{
    return (*(compare_fn **)compare)(a, b);
}

void qsort(void *base, size_t count, size_t size, compare_fn *compare)
{
    heap_sort(base, count, size, compare_two, &compare);
}

WEAK void qsort_r(void *base, size_t count, size_t size, compare_more_fn *compare, void *more)
{
    heap_sort(base, count, size, compare, more);
}

void *bsearch(const void *key, const void *base, size_t count, size_t size, compare_fn *compare)
{
    const char *items = base;
    while (count) {
        const char *middle = items + count / 2 * size;
        int order = compare(key, middle);
        if (!order) return (void *)middle;
        if (order > 0) {
            items = middle + size;
            count--;
        }
        count /= 2;
    }
    return NULL;
}
