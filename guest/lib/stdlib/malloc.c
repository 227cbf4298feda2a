/* Implements a heap on sbrk. Blocks follow one another, each with a header:
 *
 *     | before | size, used | bytes of the program ... |
 *
 * `before` is the size of the block before this one, so that a freed block finds both neighbours
 * and joins those that are free. Free blocks are in lists, one for each power of two of their
 * sizes. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "system/system.h"
#include "system/weak.h"

enum { UNIT = 16, LISTS = 32, GROW = 65536 };

struct block {
    size_t before, size;        /* sizes with headers, which are multiples of UNIT; bit 0 of
                                 * `size` is set in a used block */
    struct block *next, **link; /* the list of free blocks; used only in free blocks */
};
enum { HEADER = UNIT, LEAST = (sizeof(struct block) + UNIT - 1) / UNIT * UNIT };

static struct block *lists[LISTS];
static struct block *last; /* marks the end of the heap: a used block without bytes */

static size_t size_of(const struct block *b) { return b->size & ~(size_t)1; }
static struct block *block_after(struct block *b)
{
    return (struct block *)((char *)b + size_of(b));
}
static struct block *block_of(void *p) { return (struct block *)((char *)p - HEADER); }

static unsigned list_of(size_t size)
{
    unsigned n = 8 * sizeof(long) - 1 - (unsigned)__builtin_clzl((unsigned long)size);
    return n < LISTS ? n : LISTS - 1;
}

static void list_remove(struct block *b)
{
    *b->link = b->next;
    if (b->next) b->next->link = b->link;
}

/* Adds a free block whose neighbours are used to its list. */
static void list_add(struct block *b, size_t size)
{
    struct block **list = &lists[list_of(size)];
    b->size = size;
    block_after(b)->before = size;
    b->next = *list;
    b->link = list;
    if (b->next) b->next->link = &b->next;
    *list = b;
}

/* Frees a block and joins it with its free neighbours. */
static void block_release(struct block *b)
{
    size_t size = size_of(b);
    struct block *next = block_after(b);
    if (!(next->size & 1)) {
        list_remove(next);
        size += next->size;
    }
    struct block *left = b->before ? (struct block *)((char *)b - b->before) : NULL;
    if (left && !(left->size & 1)) {
        list_remove(left);
        size += left->size;
        b = left;
    }
    list_add(b, size);
}

/* Cuts a used block to its first `size` bytes, with its header. The rest becomes free. */
static void block_cut(struct block *b, size_t size)
{
    size_t rest = size_of(b) - size;
    if (rest < LEAST) return;
    b->size = size | 1;
    struct block *tail = block_after(b);
    tail->before = size;
    tail->size = rest | 1;
    block_after(tail)->before = rest;
    block_release(tail);
}

static int heap_grow(size_t size)
{
    if (size > SIZE_MAX / 2) return 0;
    size = (size + HEADER + GROW - 1) / GROW * GROW;
    char *start = penta_system_sbrk(0);
    size_t skip = last ? 0 : (0 - (uintptr_t)start) % UNIT;
    if (!penta_system_sbrk(size + skip)) return 0;
    start += skip;
    /* The old end of the heap becomes the new block, unless the program itself called sbrk meanwhile. */
    struct block *b = last && (char *)last + HEADER == start ? last : (struct block *)start;
    if (b != last) {
        size_t off = (0 - (uintptr_t)start) % UNIT;
        b = (struct block *)(start + off);
        size = (size - off) / UNIT * UNIT - HEADER;
        b->before = 0;
    }
    b->size = size | 1;
    last = block_after(b);
    last->before = size;
    last->size = HEADER | 1;
    block_release(b);
    return 1;
}

static struct block *block_find(size_t size)
{
    for (unsigned n = list_of(size); n < LISTS; n++)
        for (struct block *b = lists[n]; b; b = b->next)
            if (b->size >= size) return b;
    return NULL;
}

static size_t block_size(size_t size)
{
    if (size > SIZE_MAX / 2) return 0;
    size = (size + HEADER + UNIT - 1) / UNIT * UNIT;
    return size < LEAST ? LEAST : size;
}

void *malloc(size_t wanted)
{
    size_t size = block_size(wanted);
    struct block *b = size ? block_find(size) : NULL;
    if (!b && size && heap_grow(size)) b = block_find(size);
    if (!b) {
        errno = ENOMEM;
        return NULL;
    }
    list_remove(b);
    b->size |= 1;
    block_cut(b, size);
    return (char *)b + HEADER;
}

void free(void *p)
{
    if (p) block_release(block_of(p));
}

void *calloc(size_t count, size_t size)
{
    size_t all;
    if (__builtin_mul_overflow(count, size, &all)) all = SIZE_MAX;
    void *p = malloc(all);
    return p ? memset(p, 0, all) : NULL;
}

void *realloc(void *old, size_t wanted)
{
    if (!old) return malloc(wanted);
    struct block *b = block_of(old), *next = block_after(b);
    size_t size = block_size(wanted), have = size_of(b);
    if (size && size > have && !(next->size & 1) && have + next->size >= size) {
        list_remove(next);
        have += next->size;
        b->size = have | 1;
        block_after(b)->before = have;
    }
    if (size && size <= have) {
        block_cut(b, size);
        return old;
    }
    void *new = malloc(wanted);
    if (!new) return NULL;
    memcpy(new, old, have - HEADER);
    free(old);
    return new;
}

void *aligned_alloc(size_t alignment, size_t size)
{
    if (alignment & (alignment - 1)) return NULL;
    if (alignment <= UNIT) return malloc(size);
    if (size > SIZE_MAX / 2 - alignment) return NULL;
    char *p = malloc(size + alignment + LEAST);
    if (!p || (uintptr_t)p % alignment == 0) return p;
    /* The bytes before the aligned address become a free block. */
    char *at = p + LEAST + (0 - (uintptr_t)(p + LEAST)) % alignment;
    struct block *b = block_of(p), *aligned = block_of(at);
    size_t before = (size_t)((char *)aligned - (char *)b), whole = size_of(b);
    aligned->before = before;
    aligned->size = (whole - before) | 1;
    block_after(aligned)->before = whole - before;
    b->size = before | 1;
    block_release(b);
    return at;
}

WEAK int posix_memalign(void **to, size_t alignment, size_t size)
{
    if (alignment % sizeof(void *) || alignment & (alignment - 1)) return EINVAL;
    void *p = aligned_alloc(alignment, size);
    if (!p) return ENOMEM;
    *to = p;
    return 0;
}

WEAK void *reallocarray(void *old, size_t count, size_t size)
{
    size_t all;
    if (__builtin_mul_overflow(count, size, &all)) all = SIZE_MAX;
    return realloc(old, all);
}
