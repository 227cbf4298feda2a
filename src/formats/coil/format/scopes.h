/* Finds declarations by a hash of their name, the innermost first. A scope pushes its
 * declarations when it opens and pops them when it closes. Entries have numbers in the order in
 * which they were pushed; the caller keeps the declarations and compares their names. A new
 * entry becomes the first of its chain, so the entry to pop is always the first of a chain. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct coil_scopes {
    uint32_t *heads; /* per bucket: 1 + the number of its first entry, or 0 */
    struct coil_scope_entry {
        uint64_t hash;
        uint32_t next; /* 1 + the number of the next entry in the bucket, or 0 */
    } * entries;
    size_t count, capacity, buckets; /* buckets: a power of two */
};

/* Returns false if there is no memory. */
bool coil_scopes_push(struct coil_scopes *s, uint64_t hash);
void coil_scopes_pop(struct coil_scopes *s);
void coil_scopes_clear(struct coil_scopes *s);
void coil_scopes_free(struct coil_scopes *s);

/* These functions find the entries with a hash: for (size_t i = first; i != COIL_SCOPES_END; i =
 * next) */
#define COIL_SCOPES_END SIZE_MAX
size_t coil_scopes_first(const struct coil_scopes *s, uint64_t hash);
size_t coil_scopes_next(const struct coil_scopes *s, size_t entry);

static inline uint64_t coil_hash_id(uint64_t id)
{
    id *= UINT64_C(0x9E3779B97F4A7C15);
    return id ^ id >> 32;
}
