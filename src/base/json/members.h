/* Keeps the names of the members of all open objects of a JSON document. The last name that was
 * added is forgotten first, so the hash table needs no marks for deleted entries. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_members {
    uint64_t *table; /* the hash table of names; 0 marks a free entry */
    uint64_t *order; /* the hashes in the order in which they were added */
    size_t count, capacity;
};

/* Adds a name. Returns false when the object already has a member of this name. *failed is set
 * when memory ran out. */
bool members_add(struct json_members *m, uint64_t object, const char *name, bool *failed);
/* Forgets all names but the first `count`. */
void members_shrink(struct json_members *m, size_t count);
void members_free(struct json_members *m);
