/* An arena gives memory that its owner frees all at once. All other code only borrows pointers
 * into it. */
#pragma once
#include "base/error.h"

struct arena {
    struct arena_block *blocks;
};

/* Returns zeroed memory for `count` items, aligned for any type. Returns NULL with the error
 * BASE_MEMORY when memory ran out or count * size overflows. A count of 0 gives a valid pointer. */
void *arena_alloc(struct arena *a, size_t count, size_t size, penta_error *err);
/* Copies the bytes and a zero byte after them, so that text may be used as a C string. */
void *arena_copy(struct arena *a, penta_bytes bytes, penta_error *err);
void arena_free(struct arena *a);
/* Forgets everything in the arena. Its memory stays for later allocations, unless it is large. */
void arena_clear(struct arena *a);
