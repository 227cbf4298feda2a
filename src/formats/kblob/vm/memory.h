/* Device memory consists of allocations in a 48-bit address space. Addresses are looked up and
 * never used as pointers. The interpreter uses it for the option 'map', and the device under a
 * lock of its own. */
#pragma once
#include "base/error.h"
#include "base/writer.h"

enum kblob_fault {
    KBLOB_FAULT_NONE,
#define TRAP(number, id, ...) KBLOB_FAULT_##id = number,
#include "kblob/traps.def"
    KBLOB_FAULTS
};
const char *kblob_fault_name(enum kblob_fault fault); /* returns a name such as "OUT_OF_BOUNDS" */

struct kblob_region {
    uint64_t base, size;
    uint8_t *bytes;
    uint8_t *initial; /* the contents at the start; NULL if they are zeros or not needed */
    bool read_only;
};

struct kblob_range {
    uint64_t base, size;
};

enum { KBLOB_FREED = 4096, KBLOB_PAGE = 4096 };

struct kblob_memory {
    struct kblob_region *regions; /* all allocations, sorted by base */
    size_t count, capacity;
    /* used: number of bytes in use; limit: largest number, where 0 stands for 1 GiB. */
    uint64_t used, limit;
    uint64_t seed, attempts; /* state of the generator of addresses */
    /* This ring has the last KBLOB_FREED ranges that were freed. It is allocated at the first
     * use. */
    struct kblob_range *freed;
    size_t freed_count; /* number of all ranges ever freed; the ring has the newest of them */
};

/* Releases everything. The struct can be used again afterwards. */
void kblob_memory_free(struct kblob_memory *m);
/* Makes an allocation that is filled with zeros, at a generated base (DEVICE 1.2). Returns 0 if
 * the size is 0 or above the limit, or memory ran out. */
uint64_t kblob_memory_alloc(struct kblob_memory *m, uint64_t size);
/* Makes an allocation at a chosen base. Returns false in the same cases as kblob_memory_alloc,
 * and if the allocation does not fit there. */
bool kblob_memory_alloc_at(struct kblob_memory *m, uint64_t base, uint64_t size);
/* Tells whether a range is within 48 bits and the limit, is not empty, and overlaps no other
 * one. */
bool kblob_memory_fits(const struct kblob_memory *m, uint64_t base, uint64_t size);
/* Releases the live allocation at this base. Before that, its bytes are overwritten. */
bool kblob_memory_release(struct kblob_memory *m, uint64_t base);

/* Returns the region that contains the address, or NULL. */
struct kblob_region *kblob_memory_find(const struct kblob_memory *m, uint64_t address);
/* Tells why [address, address + size) is not inside one live allocation (KBLOB 3.6). The result
 * is NONE if it is. */
enum kblob_fault kblob_memory_classify(const struct kblob_memory *m, uint64_t address,
                                       uint64_t size);
/* Returns the allocation that is nearest to an address, for reports, or NULL if there is none. */
const struct kblob_region *kblob_memory_nearest(const struct kblob_memory *m, uint64_t address);
