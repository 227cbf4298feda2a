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
    struct key *slots;      /* a slot is empty when its kernel_a is NULL */
    size_t count, capacity; /* the capacity is a power of two */
};

/* Adds a key. Returns true when it is new, false when the set has it already or memory ran out. */
bool keys_add(struct keys *k, struct key key);
void keys_free(struct keys *k);
