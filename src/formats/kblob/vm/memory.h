/* Device memory: allocations in a 48-bit address space. Addresses are looked up and never used as pointers. The
 * interpreter uses it for the option 'map'; the device uses it under its own lock. */
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
    uint8_t *initial; /* the contents at the start; NULL for zeros, or when nothing needs them */
    bool read_only;
};

struct kblob_range {
    uint64_t base, size;
};

enum { KBLOB_FREED = 4096, KBLOB_PAGE = 4096 };

struct kblob_memory {
    struct kblob_region *regions; /* ascending by base */
    size_t count, capacity;
    uint64_t used, limit;    /* bytes; a limit of 0 stands for 1 GiB */
    uint64_t seed, attempts; /* the state of the address generator */
    /* A ring of the last KBLOB_FREED ranges, allocated at the first use. */
    struct kblob_range *freed;
    size_t freed_count; /* all that were ever freed; the ring has the newest */
};

/* Releases everything; the struct can be used again. */
void kblob_memory_free(struct kblob_memory *m);
/* Makes a zeroed allocation at a generated base (DEVICE 1.2). Returns 0 when the size is 0 or over the limit, or
 * memory ran out. */
uint64_t kblob_memory_alloc(struct kblob_memory *m, uint64_t size);
/* Makes an allocation at a chosen base. False in the same cases, and when it does not fit there. */
bool kblob_memory_alloc_at(struct kblob_memory *m, uint64_t base, uint64_t size);
/* Tells whether a range is within 48 bits and the limit, is not empty, and overlaps no other. */
bool kblob_memory_fits(const struct kblob_memory *m, uint64_t base, uint64_t size);
/* Releases the live allocation at this base. Its bytes are overwritten first. */
bool kblob_memory_release(struct kblob_memory *m, uint64_t base);

/* The region that holds the address, or NULL. */
struct kblob_region *kblob_memory_find(const struct kblob_memory *m, uint64_t address);
/* Tells why [address, address + size) is not inside one live allocation (KBLOB 3.6), or NONE when it is. */
enum kblob_fault kblob_memory_classify(const struct kblob_memory *m, uint64_t address,
                                       uint64_t size);
/* The allocation that is nearest to an address, for reports; NULL when there is none. */
const struct kblob_region *kblob_memory_nearest(const struct kblob_memory *m, uint64_t address);
