/* The names of the members of all open objects of a JSON document. Names are forgotten in the
 * reverse order of their coming, so the hash table needs no marks for deleted entries. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_members {
    uint64_t *table; /* of hashes; 0: free */
    uint64_t *order; /* the same hashes, in the order they came */
    size_t count, capacity;
};

/* False: this object has had a member of this name. *failed is set when memory ran out. */
bool members_add(struct json_members *m, uint64_t object, const char *name, bool *failed);
/* Forgets all but the first `count`. */
void members_shrink(struct json_members *m, size_t count);
void members_free(struct json_members *m);
