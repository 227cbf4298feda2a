/* Counts by name in a hash table. */
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "batch/after/page.h"

static struct tally_row *tally_place(struct tally_row *rows, size_t capacity, penta_bytes name)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < name.size; i++) hash = (hash ^ name.data[i]) * UINT64_C(0x100000001b3);
    for (size_t at = (size_t)(hash ^ hash >> 31);; at++) {
        struct tally_row *row = &rows[at & (capacity - 1)];
        if (!row->name || bytes_equal(bytes_of(row->name), name)) return row;
    }
}

static bool tally_grow(struct tally *t)
{
    size_t capacity = t->capacity ? t->capacity * 2 : 64;
    if (t->used * 2 < t->capacity) return true;
    struct tally_row *rows = calloc(capacity, sizeof *rows);
    if (!rows) return false;
    for (size_t i = 0; i < t->capacity; i++)
        if (t->rows[i].name) *tally_place(rows, capacity, bytes_of(t->rows[i].name)) = t->rows[i];
    free(t->rows);
    t->rows = rows;
    t->capacity = capacity;
    return true;
}

static char *tally_text(penta_bytes text)
{
    char *copy = malloc(text.size + 1);
    if (!copy) return NULL;
    bytes_copy(copy, text);
    copy[text.size] = 0;
    return copy;
}

void tally_add(struct tally *t, penta_bytes name, uint64_t count, uint64_t bytes,
               penta_bytes source)
{
    if (t->failed || !tally_grow(t)) {
        t->failed = true;
        return;
    }
    struct tally_row *row = tally_place(t->rows, t->capacity, name);
    if (!row->name) {
        row->name = tally_text(name);
        row->source = tally_text(source);
        t->failed |= !row->name || !row->source;
        t->used += row->name != NULL;
        if (t->failed) return;
    }
    row->count += count;
    row->bytes += bytes;
}

static int tally_order(const void *a, const void *b)
{
    const struct tally_row *x = a, *y = b;
    if (!x->name || !y->name) return !x->name - !y->name;
    if (x->count != y->count) return x->count < y->count ? 1 : -1;
    return strcmp(x->name, y->name);
}

size_t tally_sort(struct tally *t)
{
    if (t->capacity) qsort(t->rows, t->capacity, sizeof *t->rows, tally_order);
    return t->used;
}

void tally_free(struct tally *t)
{
    for (size_t i = 0; i < t->capacity; i++) {
        free(t->rows[i].name);
        free(t->rows[i].source);
    }
    free(t->rows);
    *t = (struct tally){0};
}
