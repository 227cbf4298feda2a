/* Remembers the member names of all open objects in one hash table. A hash stands for its name:
 * two names of one object with the same 64-bit hash would count as equal, which only makes one
 * of them end in a number. */
#include "base/json/members.h"
#include <stdlib.h>

/* Returns FNV-1a of a name, with another start for every object. The result is never 0, because
 * 0 marks a free entry. */
static uint64_t member_hash(uint64_t object, const char *name)
{
    uint64_t hash = (UINT64_C(0xcbf29ce484222325) ^ object) * UINT64_C(0x100000001b3);
    for (; *name; name++) hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    return hash ? hash : 1;
}

/* Finds the entry of a hash, or the free entry where the hash belongs. */
static size_t hash_entry(const struct json_members *m, uint64_t hash)
{
    size_t mask = 2 * m->capacity - 1, i = (size_t)(hash ^ hash >> 32) & mask;
    while (m->table[i] && m->table[i] != hash) i = (i + 1) & mask;
    return i;
}

static bool members_grow(struct json_members *m)
{
    size_t capacity = m->capacity ? 2 * m->capacity : 16;
    uint64_t *table = calloc(2 * capacity, sizeof *table);
    uint64_t *order = table ? realloc(m->order, capacity * sizeof *order) : NULL;
    if (!order) {
        free(table);
        return false;
    }
    free(m->table);
    m->table = table;
    m->order = order;
    m->capacity = capacity;
    for (size_t i = 0; i < m->count; i++) table[hash_entry(m, order[i])] = order[i];
    return true;
}

bool members_add(struct json_members *m, uint64_t object, const char *name, bool *failed)
{
    uint64_t hash = member_hash(object, name);
    if (m->count == m->capacity && !members_grow(m)) {
        *failed = true;
        return true;
    }
    size_t i = hash_entry(m, hash);
    if (m->table[i]) return false;
    m->table[i] = m->order[m->count++] = hash;
    return true;
}

void members_shrink(struct json_members *m, size_t count)
{
    while (m->count > count) m->table[hash_entry(m, m->order[--m->count])] = 0;
}

void members_free(struct json_members *m)
{
    free(m->table);
    free(m->order);
    *m = (struct json_members){0};
}
