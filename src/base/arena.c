/* Hands out memory from blocks that grow in size. The memory is never returned singly. Relies on
 * calloc for zeroed memory. */
#include "base/arena.h"
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

struct arena_block {
    struct arena_block *next;
    size_t used, capacity;
    alignas(max_align_t) uint8_t data[];
};

enum { BLOCK_BYTES = 4096 };

void *arena_alloc(struct arena *a, size_t count, size_t size, penta_error *err)
{
    const size_t align = alignof(max_align_t);
    if (size && count > (SIZE_MAX / 2) / size) {
        error_at(err, BASE_MEMORY, 0, "%zu items of %zu bytes", count, size);
        return NULL;
    }
    size_t bytes = (count * size + align - 1) / align * align;
    if (!bytes) bytes = align;
    struct arena_block *b = a->blocks;
    if (!b || b->capacity - b->used < bytes) {
        size_t capacity = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
        /* The system gives large blocks already zeroed, so calloc need not clear them. */
        b = calloc(1, sizeof *b + capacity);
        if (!b) {
            error_at(err, BASE_MEMORY, 0, "no memory for %zu bytes", bytes);
            return NULL;
        }
        b->capacity = capacity;
        b->next = a->blocks;
        a->blocks = b;
    }
    b->used += bytes;
    return b->data + (b->used - bytes);
}

void *arena_copy(struct arena *a, penta_bytes bytes, penta_error *err)
{
    char *copy = arena_alloc(a, bytes.size + 1, 1, err);
    if (copy && bytes.size) memcpy(copy, bytes.data, bytes.size);
    return copy;
}

void arena_free(struct arena *a)
{
    for (struct arena_block *b = a->blocks, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    a->blocks = NULL;
}

void arena_clear(struct arena *a)
{
    enum { LARGE = 1 << 22 };
    size_t total = 0;
    for (struct arena_block *b = a->blocks; b; b = b->next) total += b->capacity;
    if (a->blocks && !a->blocks->next && total <= LARGE) {
        memset(a->blocks->data, 0, a->blocks->used);
        a->blocks->used = 0;
        return;
    }
    arena_free(a);
    if (!total || total > LARGE) return;
    /* From now on the arena has one block of the total size. When memory for it is missing, the
     * next allocation makes a block as usual. */
    a->blocks = calloc(1, sizeof *a->blocks + total);
    if (a->blocks) a->blocks->capacity = total;
}
