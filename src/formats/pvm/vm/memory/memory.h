/* Guest memory (PVM 7): 2^32 bytes in pages of 4096, each with rights.
 *
 *   reserved back end:  | rights, 1 MiB | state page | guest 0 .. 2^32-1 | guard |
 *   paged back end:     | zeros,  1 MiB | state page |        pages by table
 *
 * struct pvm_state lies in the page directly below guest address 0, the rights below it, so that
 * one pointer reaches registers, rights and memory at constant distances: the interpreter needs no
 * other, and compiled code can have its base register (or segment) at guest 0.
 *
 * The fast path of a store tests WRITE in the page's byte of the rights table. A writable page
 * lacks WRITE until its first store, which takes the slow path and sets WRITE and DIRTY. So DIRTY
 * marks exactly the pages that may differ from their initial contents: resetting, describing and
 * saving a machine look only at those, at no cost to the fast path. In the same way a page that a
 * debugger watches lacks LOAD or WRITE, so that its accesses take the slow path. (On the five
 * programs of bench/ the test of the page's byte costs 4 to 9 % more than no check at all; a page
 * table of pointers costs 20 %. The test needs no signal handler, and stops are exact.)
 *
 * In a guarded machine the host's pages have the same rights, and compiled code tests nothing.
 * DIRTY is then set from the host's list of pages in use, when it is needed, and pages with initial
 * contents always count as changed.
 *
 * The paged back end leaves the table below the state zero, so that every access takes the slow
 * path, through the functions here. */
#pragma once
#include "base/writer.h"
#include "core/guard.h"
#include "penta/penta.h"

enum {
    PVM_PAGE_BITS = 12,
    PVM_PAGES = 1 << 20,
    PVM_READ = 1,  /* The guest may read the page. */
    PVM_WRITE = 2, /* The page is writable, and was written before. */
    PVM_WRITABLE = 4,
    PVM_DIRTY = 8,    /* The page may differ from its initial contents. */
    PVM_LOAD = 16,    /* The fast path of a load may read the page. */
    PVM_WATCHED = 32, /* A debugger watches stores to the page, so it never gets PVM_WRITE. */
};

struct pvm_area { /* An area is whole pages with the same rights, and their initial contents. */
    uint32_t address;
    uint64_t length;
    bool writable;
    /* `initial` has the first bytes, after which zeros follow. They are borrowed, or owned by
     * `owned`. */
    penta_bytes initial;
    uint8_t *owned;
};

struct pvm_span {
    uint64_t from, size;
};

/* Tells whether an access of n bytes overlaps the span. */
static inline bool pvm_span_meets(const struct pvm_span *s, uint32_t address, unsigned n)
{
    return (uint64_t)address + (n - 1) - s->from < s->size + (n - 1);
}

struct pvm_memory {
    /* `state` is the state of the machine, zero at the start; an engine works on the registers
     * in it. */
    struct pvm_state *state;
    uint8_t *base;   /* where guest address 0 is; the paged back end has no memory there */
    uint8_t *rights; /* PVM_PAGES bytes, one for each page */
    /* `pages` is the page table of the paged back end, with two levels of 1024 entries, else
     * NULL. */
    uint8_t **pages;
    void *reservation;
    uint32_t page; /* the guest's page size, which is the unit of maps and of `fault` */
    /* The host's pages have the rights of the guest's, as compiled code needs. */
    bool guarded;
    struct pvm_area *areas; /* The areas are sorted by address and do not overlap. */
    size_t area_count, area_capacity;
    uint32_t fault;   /* the address of the page of the last access that failed */
    bool fault_write; /* The last access that failed was a store. */
    /* The page at `fault` is readable, so the access was a store to read-only memory. */
    bool fault_protected;
    struct guards *guards; /* the guards of a debugger, or NULL */
    /* These spans contain all guards for loads and for stores. */
    struct pvm_span watched_loads, watched_stores;
};

/* The functions below are the back end, in memory_reserved.c or memory_paged.c. */
bool pvm_backing_open(struct pvm_memory *m);
void pvm_backing_close(struct pvm_memory *m);
/* Makes pages usable and zero. */
bool pvm_backing_commit(struct pvm_memory *m, uint32_t page, uint32_t count);
/* Makes pages zero again. */
void pvm_backing_drop(struct pvm_memory *m, uint32_t page, uint32_t count);
/* Returns the bytes of a committed page. Returns NULL when the page was never written and is
 * zero, or, if for_write is true, when memory ran out. */
uint8_t *pvm_backing_page(const struct pvm_memory *m, uint32_t page, bool for_write);
/* Sets the host's rights on committed pages: 0, PVM_READ, or PVM_READ | PVM_WRITE. */
bool pvm_backing_protect(struct pvm_memory *m, uint32_t page, uint32_t count, unsigned rights);
/* Sets DIRTY on those of these pages which the host has in use. */
void pvm_backing_dirty(const struct pvm_memory *m, uint32_t page, uint32_t count);

/* The functions below work over either back end. */
/* Opens a memory without areas. `page` is the size of a page, a power of two from 4096 to 65536.
 * Rights are kept for each 4096 bytes in any case. */
bool pvm_memory_open(struct pvm_memory *m, uint32_t page, penta_error *err);
void pvm_memory_close(struct pvm_memory *m);

/* Maps whole pages that start with `initial` and are zero after it. The bytes are borrowed, or
 * copied if `copy` is true. The contents that were mapped there before are lost. Returns false
 * when the range is not page-aligned, ends after 2^32, or when memory ran out. */
bool pvm_memory_map(struct pvm_memory *m, uint64_t address, uint64_t length, bool writable,
                    penta_bytes initial, bool copy);
bool pvm_memory_unmap(struct pvm_memory *m, uint64_t address, uint64_t length);
bool pvm_memory_protect(struct pvm_memory *m, uint64_t address, uint64_t length, bool writable);
/* Gives each page the contents with which it was mapped. */
void pvm_memory_reset(struct pvm_memory *m);

/* pvm_memory_load and pvm_memory_store are the slow paths of an access of n = 1, 2, 4 or 8
 * bytes. They do all of the access or nothing. They return false when `fault` is set. `wraps`
 * says that addresses go on at 0 after 2^32-1, as in the Gray Paper. */
bool pvm_memory_load(struct pvm_memory *m, uint32_t address, unsigned n, bool wraps,
                     uint64_t *value);
bool pvm_memory_store(struct pvm_memory *m, uint32_t address, unsigned n, bool wraps,
                      uint64_t value);
/* Stores `count` equal bytes up to the first fault. Returns how many it stored; when these are
 * fewer, `fault` is set. */
uint64_t pvm_memory_fill(struct pvm_memory *m, uint32_t address, uint8_t value, uint64_t count);

/* Watches the memory that the guards name, until this function is called with NULL. */
void pvm_memory_watch(struct pvm_memory *m, struct guards *guards);
/* Tells whether a guard wants to know of this access. */
bool pvm_memory_watched(const struct pvm_memory *m, uint32_t address, unsigned n, bool write);

/* pvm_memory_read and pvm_memory_write are for the host: they reach any mapped byte, whatever
 * the guest's rights. */
bool pvm_memory_read(const struct pvm_memory *m, uint64_t address, void *into, size_t size);
bool pvm_memory_write(struct pvm_memory *m, uint64_t address, const void *from, size_t size);

/* Tells whether the guest may read (PVM_READ) or write (PVM_WRITABLE) all of these bytes. */
bool pvm_memory_allows(const struct pvm_memory *m, uint64_t address, uint64_t size, uint8_t right);
/* Returns a view of readable bytes, which is valid until memory changes. Bytes that are not
 * contiguous are copied to scratch. The view is empty when memory ran out. */
penta_bytes pvm_memory_view(const struct pvm_memory *m, uint64_t address, uint64_t size,
                            struct writer *scratch);

/* The function type of pvm_memory_changed, which calls fn for every page that may differ from
 * its initial contents, in the order of addresses. `now` and `initial` have 4096 bytes. */
typedef void pvm_page_fn(void *user, uint32_t address, const uint8_t *now, const uint8_t *initial);
void pvm_memory_changed(const struct pvm_memory *m, pvm_page_fn *fn, void *user);
