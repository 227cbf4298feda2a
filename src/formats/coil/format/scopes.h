/* Declarations by a hash of their name, innermost first: scopes push them when they open and pop
 * them when they close. Entries are numbered as pushed; the owner of the declarations compares the
 * names. New entries go to the head of their chain, so that the one to pop is always a head. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct coil_scopes {
    uint32_t *heads; /* per bucket: entry + 1, or 0 */
    struct coil_scope_entry {
        uint64_t hash;
        uint32_t next; /* entry + 1 in the same bucket, or 0 */
    } * entries;
    size_t count, capacity, buckets; /* buckets: a power of two */
};

bool coil_scopes_push(struct coil_scopes *s, uint64_t hash); /* false: no memory */
void coil_scopes_pop(struct coil_scopes *s);
void coil_scopes_clear(struct coil_scopes *s);
void coil_scopes_free(struct coil_scopes *s);

/* Entries with this hash: for (size_t i = first; i != COIL_SCOPES_END; i = next) */
#define COIL_SCOPES_END SIZE_MAX
size_t coil_scopes_first(const struct coil_scopes *s, uint64_t hash);
size_t coil_scopes_next(const struct coil_scopes *s, size_t entry);

static inline uint64_t coil_hash_id(uint64_t id)
{
    id *= UINT64_C(0x9E3779B97F4A7C15);
    return id ^ id >> 32;
}
