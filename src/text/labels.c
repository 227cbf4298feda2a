/* Keeps the names of a source text in a hash table (FNV-1a, open chains of indices), and a list
 * of the uses that wait for a definition. */
#include "text/labels.h"
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/bytes.h"

void labels_free(struct labels *l)
{
    free(l->items);
    free(l->buckets);
    free(l->fixups);
    arena_free(&l->arena);
    *l = (struct labels){0};
}

static uint64_t labels_hash(penta_bytes name)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325); /* the start value of FNV-1a */
    for (size_t i = 0; i < name.size; i++) h = (h ^ name.data[i]) * UINT64_C(0x100000001b3);
    return h ^ h >> 29;
}

static uint32_t *labels_bucket(const struct labels *l, penta_bytes name)
{
    size_t mask = l->bucket_count - 1;
    for (size_t i = (size_t)labels_hash(name) & mask;; i = (i + 1) & mask) {
        uint32_t *b = &l->buckets[i];
        if (!*b) return b;
        penta_bytes have = l->items[*b - 1].name;
        if (bytes_equal(have, name)) return b;
    }
}

static bool labels_rehash(struct labels *l, penta_error *err)
{
    if (l->count * 2 < l->bucket_count) return true;
    size_t more = l->bucket_count ? l->bucket_count * 2 : 32;
    uint32_t *buckets = calloc(more, sizeof *buckets);
    if (!buckets) return error_at(err, BASE_MEMORY, 0, "no memory for %zu names", more);
    free(l->buckets);
    l->buckets = buckets;
    l->bucket_count = more;
    for (size_t i = 0; i < l->count; i++) *labels_bucket(l, l->items[i].name) = (uint32_t)i + 1;
    return true;
}

struct label *labels_find(const struct labels *l, penta_bytes name)
{
    uint32_t found = l->bucket_count ? *labels_bucket(l, name) : 0;
    return found ? &l->items[found - 1] : NULL;
}

int64_t labels_intern(struct labels *l, penta_bytes name, penta_error *err)
{
    struct label *found = labels_find(l, name);
    if (found) return found - l->items;
    if (!labels_rehash(l, err) || !ARRAY_GROW(l->items, l->capacity, l->count, err)) return -1;
    const uint8_t *copy = arena_copy(&l->arena, name, err);
    if (!copy) return -1;
    l->items[l->count] = (struct label){.name = {copy, name.size}};
    *labels_bucket(l, l->items[l->count].name) = (uint32_t)l->count + 1;
    return (int64_t)l->count++;
}

bool labels_define(struct labels *l, penta_bytes name, uint64_t value, uint64_t offset,
                   penta_error *err)
{
    int64_t i = labels_intern(l, name, err);
    if (i < 0) return false;
    struct label *label = &l->items[i];
    if (label->defined)
        return error_at(err, BASE_NAME_TWICE, offset, "'%.*s' is defined already",
                        BYTES_ARG(name, 60));
    label->value = value;
    label->offset = offset;
    label->defined = true;
    return true;
}

bool labels_use(struct labels *l, penta_bytes name, uint64_t place, uint32_t width, uint64_t offset,
                penta_error *err)
{
    int64_t i = labels_intern(l, name, err);
    if (i < 0 || !ARRAY_GROW(l->fixups, l->fixup_capacity, l->fixup_count, err)) return false;
    l->fixups[l->fixup_count++] = (struct fixup){(uint32_t)i, place, width, offset};
    return true;
}

bool labels_value(void *user, penta_bytes name, uint64_t *value)
{
    const struct label *label = labels_find(user, name);
    if (!label || !label->defined) return false;
    *value = label->value;
    return true;
}
