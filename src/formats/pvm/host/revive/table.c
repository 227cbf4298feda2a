/* Has the hash table of the chain (table.h), with a list of records for each bucket. The table
 * holds pointers to records, so that records never move. */
#include "pvm/host/revive/table.h"
#include <stdlib.h>
#include <string.h>

static uint64_t table_hash(const uint8_t *key, size_t size)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < size; i++) hash = (hash ^ key[i]) * UINT64_C(0x100000001b3);
    return hash ^ hash >> 29;
}

void *revive_table_find(const struct table *t, const void *key, size_t size)
{
    if (!t->capacity) return NULL;
    uint64_t hash = table_hash(key, size);
    struct table_entry *e = t->buckets[hash & (t->capacity - 1)];
    while (e && (e->hash != hash || e->key_size != size || memcmp(e->key, key, size))) e = e->next;
    return e;
}

static bool table_grow(struct table *t)
{
    size_t capacity = t->capacity ? 2 * t->capacity : 16;
    struct table_entry **buckets = calloc(capacity, sizeof *buckets);
    if (!buckets) return false;
    for (size_t i = 0; i < t->capacity; i++)
        for (struct table_entry *e = t->buckets[i], *next; e; e = next) {
            struct table_entry **to = &buckets[e->hash & (capacity - 1)];
            next = e->next;
            e->next = *to;
            *to = e;
        }
    free(t->buckets);
    t->buckets = buckets;
    t->capacity = capacity;
    return true;
}

void *revive_table_add(struct table *t, const void *key, size_t size, size_t record)
{
    if (t->count == t->capacity && !table_grow(t)) return NULL;
    struct table_entry *e = calloc(1, record);
    uint8_t *copy = malloc(size + 1);
    if (!e || !copy) {
        free(e);
        free(copy);
        return NULL;
    }
    if (size) memcpy(copy, key, size);
    e->key = copy;
    e->key_size = size;
    e->hash = table_hash(copy, size);
    struct table_entry **to = &t->buckets[e->hash & (t->capacity - 1)];
    e->next = *to;
    *to = e;
    t->count++;
    return e;
}

static int entries_by_key(const void *a, const void *b)
{
    const struct table_entry *x = *(struct table_entry *const *)a;
    const struct table_entry *y = *(struct table_entry *const *)b;
    size_t least = x->key_size < y->key_size ? x->key_size : y->key_size;
    int order = memcmp(x->key, y->key, least);
    return order ? order : (x->key_size > y->key_size) - (x->key_size < y->key_size);
}

struct table_entry **revive_table_sorted(const struct table *t)
{
    struct table_entry **list = t->count ? malloc(t->count * sizeof *list) : NULL;
    size_t count = 0;
    if (!list) return NULL;
    for (size_t i = 0; i < t->capacity; i++)
        for (struct table_entry *e = t->buckets[i]; e; e = e->next) list[count++] = e;
    qsort(list, count, sizeof *list, entries_by_key);
    return list;
}

void revive_table_free(struct table *t, void (*fini)(void *record))
{
    for (size_t i = 0; i < t->capacity; i++)
        for (struct table_entry *e = t->buckets[i], *next; e; e = next) {
            next = e->next;
            if (fini) fini(e);
            free(e->key);
            free(e);
        }
    free(t->buckets);
    *t = (struct table){0};
}
