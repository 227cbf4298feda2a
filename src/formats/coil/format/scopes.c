/* This file implements a hash table of declarations in nested scopes (scopes.h). Entries with
 * the same hash are in a chain, the newest first. */
#include "coil/format/scopes.h"
#include <stdlib.h>
#include <string.h>

static void scopes_chain(struct coil_scopes *s, size_t i)
{
    uint32_t *head = &s->heads[s->entries[i].hash & (s->buckets - 1)];
    s->entries[i].next = *head;
    *head = (uint32_t)i + 1;
}

static bool scopes_grow(struct coil_scopes *s)
{
    size_t more = s->capacity ? s->capacity * 2 : 32;
    if (more > UINT32_MAX / 2) return false;
    void *entries = realloc(s->entries, more * sizeof *s->entries);
    if (!entries) return false;
    s->entries = entries;
    uint32_t *heads = calloc(more, sizeof *heads);
    if (!heads) return false;
    free(s->heads);
    s->heads = heads;
    s->capacity = s->buckets = more;
    for (size_t i = 0; i < s->count; i++) scopes_chain(s, i);
    return true;
}

bool coil_scopes_push(struct coil_scopes *s, uint64_t hash)
{
    if (s->count == s->capacity && !scopes_grow(s)) return false;
    s->entries[s->count].hash = hash;
    scopes_chain(s, s->count++);
    return true;
}

void coil_scopes_pop(struct coil_scopes *s)
{
    const struct coil_scope_entry *e = &s->entries[--s->count];
    s->heads[e->hash & (s->buckets - 1)] = e->next;
}

void coil_scopes_clear(struct coil_scopes *s)
{
    while (s->count) coil_scopes_pop(s);
}

void coil_scopes_free(struct coil_scopes *s)
{
    free(s->heads);
    free(s->entries);
    *s = (struct coil_scopes){0};
}

static size_t same_hash(const struct coil_scopes *s, uint32_t at, uint64_t hash)
{
    while (at && s->entries[at - 1].hash != hash) at = s->entries[at - 1].next;
    return at ? at - 1 : COIL_SCOPES_END;
}

size_t coil_scopes_first(const struct coil_scopes *s, uint64_t hash)
{
    return s->buckets ? same_hash(s, s->heads[hash & (s->buckets - 1)], hash) : COIL_SCOPES_END;
}

size_t coil_scopes_next(const struct coil_scopes *s, size_t entry)
{
    return same_hash(s, s->entries[entry].next, s->entries[entry].hash);
}
