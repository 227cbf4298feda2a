/* Device memory: allocations in a 48-bit address space. Addresses are looked up, never used as pointers.
 * For the interpreter's option 'map' and for the device, which does the locking. */
#pragma once
#include "base/error.h"
#include "base/writer.h"

enum kblob_fault {
    KBLOB_FAULT_NONE,
#define TRAP(number, id, ...) KBLOB_FAULT_##id = number,
#include "kblob/traps.def"
    KBLOB_FAULTS
};
const char *kblob_fault_name(enum kblob_fault fault); /* "OUT_OF_BOUNDS" */

struct kblob_region {
    uint64_t base, size;
    uint8_t *bytes;
    uint8_t *initial; /* contents at the start; NULL: zeros, or not needed */
    bool read_only;
};

struct kblob_range {
    uint64_t base, size;
};

enum { KBLOB_FREED = 4096, KBLOB_PAGE = 4096 };

struct kblob_memory {
    struct kblob_region *regions; /* ascending by base */
    size_t count, capacity;
    uint64_t used, limit;      /* bytes; limit 0: 1 GiB */
    uint64_t seed, attempts;   /* of the address generator */
    struct kblob_range *freed; /* a ring of the last KBLOB_FREED, allocated on use */
    size_t freed_count;        /* ever; the ring holds the newest */
};

void kblob_memory_free(struct kblob_memory *m); /* releases all; the struct can be used again */
/* A zeroed allocation at a generated base (DEVICE 1.2); 0 when the size is 0 or over the limit,
 * or no memory. */
uint64_t kblob_memory_alloc(struct kblob_memory *m, uint64_t size);
/* At a chosen base; false as above, or when it does not fit. */
bool kblob_memory_alloc_at(struct kblob_memory *m, uint64_t base, uint64_t size);
/* The range is within 48 bits and the limit, is not 0, and overlaps no other. */
bool kblob_memory_fits(const struct kblob_memory *m, uint64_t base, uint64_t size);
/* base must be the base of a live allocation. The bytes are overwritten first. */
bool kblob_memory_release(struct kblob_memory *m, uint64_t base);

/* The region that holds address, or NULL. */
struct kblob_region *kblob_memory_find(const struct kblob_memory *m, uint64_t address);
/* Why [address, address + size) is not inside one live allocation (KBLOB 3.6); NONE when it is. */
enum kblob_fault kblob_memory_classify(const struct kblob_memory *m, uint64_t address,
                                       uint64_t size);
/* The allocation nearest to an address, for reports; NULL when there is none. */
const struct kblob_region *kblob_memory_nearest(const struct kblob_memory *m, uint64_t address);
