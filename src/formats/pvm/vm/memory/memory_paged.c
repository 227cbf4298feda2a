/* Implements the paged back end: pages come from the heap and are found through a table of two
 * levels. It is for hosts that cannot reserve 4 GiB. The fast paths never use m->base here,
 * because the rights that they see stay zero. */
#include <stdlib.h>
#include <string.h>
#include "pvm/vm/memory/memory.h"

enum { PAGE = 1 << PVM_PAGE_BITS, LEAF = 1024 };

bool pvm_backing_open(struct pvm_memory *m)
{
    uint8_t *at = calloc(1, PVM_PAGES + PAGE);
    m->rights = calloc(1, PVM_PAGES);
    m->pages = calloc(LEAF, sizeof *m->pages);
    m->reservation = at;
    if (!at || !m->rights || !m->pages) return false;
    m->state = (struct pvm_state *)(void *)(at + PVM_PAGES);
    m->base = at + PVM_PAGES + PAGE;
    return true;
}

void pvm_backing_close(struct pvm_memory *m)
{
    for (size_t i = 0; m->pages && i < LEAF; i++) {
        uint8_t **leaf = (uint8_t **)(void *)m->pages[i];
        for (size_t j = 0; leaf && j < LEAF; j++) free(leaf[j]);
        free(leaf);
    }
    free(m->pages);
    free(m->rights);
    free(m->reservation);
}

bool pvm_backing_commit(struct pvm_memory *m, uint32_t page, uint32_t count)
{
    (void)m, (void)page, (void)count;
    return true; /* The first write to a page allocates it. */
}

void pvm_backing_drop(struct pvm_memory *m, uint32_t page, uint32_t count)
{
    for (uint32_t end = page + count; page < end; page++) {
        uint8_t **leaf = (uint8_t **)(void *)m->pages[page / LEAF];
        if (!leaf) continue;
        free(leaf[page % LEAF]);
        leaf[page % LEAF] = NULL;
    }
}

uint8_t *pvm_backing_page(const struct pvm_memory *m, uint32_t page, bool for_write)
{
    uint8_t **slot = &m->pages[page / LEAF];
    if (!*slot && for_write) *slot = calloc(LEAF, sizeof(uint8_t *));
    if (!*slot) return NULL;
    uint8_t **leaf = (uint8_t **)(void *)*slot;
    if (!leaf[page % LEAF] && for_write) leaf[page % LEAF] = calloc(1, PAGE);
    return leaf[page % LEAF];
}

bool pvm_backing_protect(struct pvm_memory *m, uint32_t page, uint32_t count, unsigned rights)
{
    (void)m, (void)page, (void)count, (void)rights;
    return false; /* No machine over this back end is guarded. */
}

void pvm_backing_dirty(const struct pvm_memory *m, uint32_t page, uint32_t count)
{
    (void)m, (void)page, (void)count;
}
