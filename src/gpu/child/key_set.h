/* A set of small keys, so that each finding is reported once. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct key {
    const void *kernel_a, *kernel_b;
    uint32_t index_a, index_b;
};

struct keys {
    struct key *slots;      /* kernel_a NULL: empty */
    size_t count, capacity; /* capacity: a power of two */
};

/* True when the key is new; false when it was there, or memory ran out. */
bool keys_add(struct keys *k, struct key key);
void keys_free(struct keys *k);
