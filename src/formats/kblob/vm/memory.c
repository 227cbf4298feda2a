/* Implements device memory: regions sorted by base, found by binary search. Bases come from a
 * generator of numbers, so they are the same in every run with the same seed. */
#include "kblob/vm/memory.h"
#include "kblob/kblob.h"
#include <stdlib.h>
#include <string.h>
#include "base/array.h"

static const uint64_t space = UINT64_C(1) << 48;
static const uint64_t limit_default = UINT64_C(1) << 30;

const char *kblob_fault_name(enum kblob_fault fault)
{
    const char *name = fault ? trap_name(kblob_traps, fault) : "NONE";
    return name ? name : "UNKNOWN";
}

void kblob_memory_free(struct kblob_memory *m)
{
    for (size_t i = 0; i < m->count; i++) {
        free(m->regions[i].bytes);
        free(m->regions[i].initial);
    }
    free(m->regions);
    free(m->freed);
    *m = (struct kblob_memory){.limit = m->limit, .seed = m->seed};
}

/* Returns the index of the first region whose base is above the address. */
static size_t memory_above(const struct kblob_memory *m, uint64_t address)
{
    size_t low;
    ARRAY_SEARCH(low, 0, m->count, m->regions[low].base > address);
    return low;
}

struct kblob_region *kblob_memory_find(const struct kblob_memory *m, uint64_t address)
{
    size_t i = memory_above(m, address);
    if (!i) return NULL;
    struct kblob_region *r = &m->regions[i - 1];
    return address - r->base < r->size ? r : NULL;
}

enum kblob_fault kblob_memory_classify(const struct kblob_memory *m, uint64_t address,
                                       uint64_t size)
{
    const struct kblob_region *r = kblob_memory_find(m, address);
    if (r)
        return size <= r->size - (address - r->base) ? KBLOB_FAULT_NONE : KBLOB_FAULT_OUT_OF_BOUNDS;
    if (!address) return KBLOB_FAULT_NULL;
    size_t known = m->freed_count < KBLOB_FREED ? m->freed_count : KBLOB_FREED;
    for (size_t i = 0; i < known; i++)
        if (address >= m->freed[i].base && address - m->freed[i].base < m->freed[i].size)
            return KBLOB_FAULT_USE_AFTER_FREE;
    return KBLOB_FAULT_UNMAPPED;
}

const struct kblob_region *kblob_memory_nearest(const struct kblob_memory *m, uint64_t address)
{
    if (!m->count) return NULL;
    size_t i = memory_above(m, address);
    if (!i) return &m->regions[0];
    const struct kblob_region *below = &m->regions[i - 1];
    if (i == m->count || address - below->base < below->size) return below;
    uint64_t down = address - (below->base + below->size - 1), up = m->regions[i].base - address;
    return up < down ? &m->regions[i] : below;
}

static bool memory_insert(struct kblob_memory *m, uint64_t base, uint64_t size)
{
    if (!ARRAY_RESERVE(m->regions, m->capacity, m->count + 1)) return false;
    uint8_t *bytes = calloc(1, (size_t)size);
    if (!bytes) return false;
    size_t i = memory_above(m, base);
    memmove(&m->regions[i + 1], &m->regions[i], (m->count - i) * sizeof *m->regions);
    m->regions[i] = (struct kblob_region){.base = base, .size = size, .bytes = bytes};
    m->count++;
    m->used += size;
    return true;
}

static bool memory_affordable(const struct kblob_memory *m, uint64_t size)
{
    uint64_t limit = m->limit ? m->limit : limit_default;
    return size && size <= limit && m->used <= limit - size;
}

/* Tells whether a range is closer than `gap` bytes to a live allocation, or outside of 48 bits. */
static bool memory_crowded(const struct kblob_memory *m, uint64_t base, uint64_t size, uint64_t gap)
{
    if (!base || base >= space || size > space - base) return true;
    size_t i = memory_above(m, base);
    if (i < m->count && m->regions[i].base - base < size + gap) return true;
    if (!i) return false;
    const struct kblob_region *below = &m->regions[i - 1];
    return base - below->base < below->size + gap;
}

bool kblob_memory_fits(const struct kblob_memory *m, uint64_t base, uint64_t size)
{
    return memory_affordable(m, size) && !memory_crowded(m, base, size, 0);
}

bool kblob_memory_alloc_at(struct kblob_memory *m, uint64_t base, uint64_t size)
{
    return kblob_memory_fits(m, base, size) && memory_insert(m, base, size);
}

uint64_t kblob_memory_alloc(struct kblob_memory *m, uint64_t size)
{
    if (!memory_affordable(m, size)) return 0;
    /* The address space has 2^48 bytes, far more than the limit, so a free place is found soon. */
    for (int tries = 0; tries < 100000; tries++) {
        /* The generator is splitmix64. */
        uint64_t z = m->seed + ++m->attempts * UINT64_C(0x9E3779B97F4A7C15);
        z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
        z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
        z ^= z >> 31;
        uint64_t base = z & UINT64_C(0x0000FFFFFFFFF000);
        if (!memory_crowded(m, base, size, KBLOB_PAGE))
            return memory_insert(m, base, size) ? base : 0;
    }
    return 0;
}

bool kblob_memory_release(struct kblob_memory *m, uint64_t base)
{
    struct kblob_region *r = kblob_memory_find(m, base);
    if (!r || r->base != base) return false;
    if (!m->freed) m->freed = calloc(KBLOB_FREED, sizeof *m->freed);
    if (m->freed) m->freed[m->freed_count++ % KBLOB_FREED] = (struct kblob_range){r->base, r->size};
    memset(r->bytes, 0xdd, (size_t)r->size);
    free(r->bytes);
    free(r->initial);
    m->used -= r->size;
    size_t i = (size_t)(r - m->regions);
    memmove(r, r + 1, (--m->count - i) * sizeof *r);
    return true;
}
