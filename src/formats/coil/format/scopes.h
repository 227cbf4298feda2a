/* Declarations found by a hash of their name, the innermost first. A scope pushes its declarations
 * when it opens and pops them when it closes. Entries are numbered in the order in which they were
 * pushed; the owner of the declarations compares the names. A new entry goes to the head of its
 * chain, so the entry to pop is always the head of a chain. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct coil_scopes {
    uint32_t *heads; /* per bucket: number of its first entry + 1, or 0 */
    struct coil_scope_entry {
        uint64_t hash;
        uint32_t next; /* number of the next entry in the bucket + 1, or 0 */
    } * entries;
    size_t count, capacity, buckets; /* `buckets` is a power of two */
};

bool coil_scopes_push(struct coil_scopes *s, uint64_t hash); /* false: there is no memory */
void coil_scopes_pop(struct coil_scopes *s);
void coil_scopes_clear(struct coil_scopes *s);
void coil_scopes_free(struct coil_scopes *s);

/* These find the entries with a hash: for (size_t i = first; i != COIL_SCOPES_END; i = next) */
#define COIL_SCOPES_END SIZE_MAX
size_t coil_scopes_first(const struct coil_scopes *s, uint64_t hash);
size_t coil_scopes_next(const struct coil_scopes *s, size_t entry);

static inline uint64_t coil_hash_id(uint64_t id)
{
    id *= UINT64_C(0x9E3779B97F4A7C15);
    return id ^ id >> 32;
}
