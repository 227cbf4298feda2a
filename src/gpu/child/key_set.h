/* This is a set of small keys. The reports use it to report each finding only once. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct key {
    const void *kernel_a, *kernel_b;
    uint32_t index_a, index_b;
};

struct keys {
    struct key *slots;      /* a slot is empty if its kernel_a is NULL */
    size_t count, capacity; /* capacity: a power of two */
};

/* Adds a key. Returns true if the key is new, and false if the set has it already or memory ran
 * out. */
bool keys_add(struct keys *k, struct key key);
void keys_free(struct keys *k);
