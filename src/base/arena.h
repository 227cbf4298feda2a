/* Memory that its one owner frees all at once. Everybody else only borrows pointers into it. */
#pragma once
#include "base/error.h"

struct arena {
    struct arena_block *blocks;
};

/* Zeroed and aligned for any type; NULL and BASE_MEMORY when memory ran out or count * size
 * overflows. count 0 gives a valid pointer. */
void *arena_alloc(struct arena *a, size_t count, size_t size, penta_error *err);
/* A copy that also ends with a zero byte, so that text may be used as a C string. */
void *arena_copy(struct arena *a, penta_bytes bytes, penta_error *err);
void arena_free(struct arena *a);
/* Everything in it is gone, and its memory, unless it is large, is there for what comes next. */
void arena_clear(struct arena *a);
