/* Implements a hash table of keys with open addressing. */
#include "gpu/child/key_set.h"
#include <stdlib.h>

static uint64_t key_set_hash(struct key key)
{
    uint64_t h = (uint64_t)(uintptr_t)key.kernel_a * UINT64_C(0x9E3779B97F4A7C15);
    h = (h ^ (uint64_t)(uintptr_t)key.kernel_b ^ h >> 29) * UINT64_C(0xBF58476D1CE4E5B9);
    h = (h ^ ((uint64_t)key.index_a << 32 | key.index_b)) * UINT64_C(0x94D049BB133111EB);
    return h ^ h >> 32;
}

static bool key_set_equal(struct key a, struct key b)
{
    return a.kernel_a == b.kernel_a && a.kernel_b == b.kernel_b && a.index_a == b.index_a &&
           a.index_b == b.index_b;
}

/* Returns the slot that has the key, or the empty slot where the key belongs. */
static struct key *key_set_slot(const struct keys *k, struct key key)
{
    size_t i = (size_t)key_set_hash(key) & (k->capacity - 1);
    while (k->slots[i].kernel_a && !key_set_equal(k->slots[i], key))
        i = (i + 1) & (k->capacity - 1);
    return &k->slots[i];
}

static bool key_set_grow(struct keys *k)
{
    struct keys larger = {.count = k->count, .capacity = k->capacity ? k->capacity * 2 : 64};
    larger.slots = calloc(larger.capacity, sizeof *larger.slots);
    if (!larger.slots) return false;
    for (size_t i = 0; i < k->capacity; i++)
        if (k->slots[i].kernel_a) *key_set_slot(&larger, k->slots[i]) = k->slots[i];
    free(k->slots);
    *k = larger;
    return true;
}

bool keys_add(struct keys *k, struct key key)
{
    if (k->count * 2 >= k->capacity && !key_set_grow(k)) return false;
    struct key *at = key_set_slot(k, key);
    if (at->kernel_a) return false;
    *at = key;
    k->count++;
    return true;
}

void keys_free(struct keys *k)
{
    free(k->slots);
    *k = (struct keys){0};
}
