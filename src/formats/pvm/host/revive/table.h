/* A hash table from byte strings to records, which begin with a table_entry. Records do not move
 * and stay until the table is freed. */
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
    size_t count, capacity; /* a power of two, or 0 */
};

void *revive_table_find(const struct table *t, const void *key, size_t size);
/* Adds a record of that many zero bytes; NULL: no memory. The key must not be there yet. */
void *revive_table_add(struct table *t, const void *key, size_t size, size_t record);
/* All records sorted by key, in a list that the caller frees; NULL: no memory, or no records. */
struct table_entry **revive_table_sorted(const struct table *t);
void revive_table_free(struct table *t, void (*fini)(void *record));
