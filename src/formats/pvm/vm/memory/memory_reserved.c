/* Implements the reserved back end: all of guest memory is one reservation of address space, and
 * a guest address is an offset from the base. */
#include <sys/mman.h>
#include "pvm/vm/memory/memory.h"

enum { PAGE = 1 << PVM_PAGE_BITS, BELOW = PVM_PAGES + PAGE, GUARD = 1 << 16 };
static const size_t span = (size_t)BELOW + (UINT64_C(1) << 32) + GUARD;

bool pvm_backing_open(struct pvm_memory *m)
{
    uint8_t *at = mmap(NULL, span, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) return false;
    if (mprotect(at, BELOW, PROT_READ | PROT_WRITE)) {
        munmap(at, span);
        return false;
    }
    m->reservation = at;
    m->rights = at;
    m->state = (struct pvm_state *)(void *)(at + PVM_PAGES);
    m->base = at + BELOW;
    return true;
}

void pvm_backing_close(struct pvm_memory *m)
{
    if (m->reservation) munmap(m->reservation, span);
}

bool pvm_backing_commit(struct pvm_memory *m, uint32_t page, uint32_t count)
{
    return !mprotect(m->base + ((size_t)page << PVM_PAGE_BITS), (size_t)count << PVM_PAGE_BITS,
                     PROT_READ | PROT_WRITE);
}

void pvm_backing_drop(struct pvm_memory *m, uint32_t page, uint32_t count)
{
    madvise(m->base + ((size_t)page << PVM_PAGE_BITS), (size_t)count << PVM_PAGE_BITS,
            MADV_DONTNEED);
}

uint8_t *pvm_backing_page(const struct pvm_memory *m, uint32_t page, bool for_write)
{
    (void)for_write;
    return m->base + ((size_t)page << PVM_PAGE_BITS);
}

static uint8_t *page_at(const struct pvm_memory *m, uint32_t page)
{
    return m->base + ((size_t)page << PVM_PAGE_BITS);
}

bool pvm_backing_protect(struct pvm_memory *m, uint32_t page, uint32_t count, unsigned rights)
{
    int allowed = rights & PVM_WRITE ? PROT_READ | PROT_WRITE : rights ? PROT_READ : PROT_NONE;
    return !mprotect(page_at(m, page), (size_t)count << PVM_PAGE_BITS, allowed);
}

void pvm_backing_dirty(const struct pvm_memory *m, uint32_t page, uint32_t count)
{
    unsigned char present[1024];
    while (count) {
        uint32_t part = count < sizeof present ? count : (uint32_t)sizeof present;
        bool known = !mincore(page_at(m, page), (size_t)part << PVM_PAGE_BITS, present);
        for (uint32_t i = 0; i < part; i++)
            if (!known || present[i] & 1) m->rights[page + i] |= PVM_DIRTY;
        page += part;
        count -= part;
    }
}
