/* A struct table is a hash table from byte strings to records, each of which begins with a
 * table_entry. Records do not move and stay until the table is freed. */
#pragma once
#include "penta/penta.h"

struct table_entry {
    struct table_entry *next;
    uint8_t *key;
    size_t key_size;
    uint64_t hash;
};

struct table {
    struct table_entry **buckets;
    size_t count, capacity; /* The capacity is a power of two, or 0. */
};

void *revive_table_find(const struct table *t, const void *key, size_t size);
/* Adds a record of `record` zero bytes. Returns NULL when memory ran out. The key must not be
 * there yet. */
void *revive_table_add(struct table *t, const void *key, size_t size, size_t record);
/* Returns all records sorted by key, in a list that the caller frees. Returns NULL when memory
 * ran out, or there are no records. */
struct table_entry **revive_table_sorted(const struct table *t);
void revive_table_free(struct table *t, void (*fini)(void *record));
