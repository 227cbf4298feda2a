/* A hash table from byte strings to records of the caller's, which begin with a table_entry. Records
 * stay where they are until the table goes. */
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
/* A new record of so many zero bytes; NULL: no memory. The key must not be there yet. */
void *revive_table_add(struct table *t, const void *key, size_t size, size_t record);
/* All records in the order of their keys, to free; NULL: no memory, or none. */
struct table_entry **revive_table_sorted(const struct table *t);
void revive_table_free(struct table *t, void (*fini)(void *record));
