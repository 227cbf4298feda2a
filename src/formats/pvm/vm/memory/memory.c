/* Implements guest memory over either back end: maps, rights of pages, and accesses that the
 * fast paths cannot do. */
#include "pvm/vm/memory/memory.h"
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/bytes.h"

enum { PAGE = 1 << PVM_PAGE_BITS };
static const uint64_t top = UINT64_C(1) << 32;

bool pvm_memory_open(struct pvm_memory *m, uint32_t page, penta_error *err)
{
    *m = (struct pvm_memory){.page = page};
    if (pvm_backing_open(m)) return true;
    pvm_backing_close(m);
    *m = (struct pvm_memory){0};
    return error_at(err, BASE_MEMORY, 0, "no address space for guest memory");
}

void pvm_memory_close(struct pvm_memory *m)
{
    for (size_t i = 0; i < m->area_count; i++) free(m->areas[i].owned);
    free(m->areas);
    pvm_backing_close(m);
    *m = (struct pvm_memory){0};
}

/* Returns the index of the first area that ends after the address. */
static size_t area_at(const struct pvm_memory *m, uint64_t address)
{
    size_t low;
    ARRAY_SEARCH(low, 0, m->area_count, m->areas[low].address + m->areas[low].length > address);
    return low;
}

static bool area_insert(struct pvm_memory *m, size_t at, struct pvm_area area)
{
    if (!ARRAY_RESERVE(m->areas, m->area_capacity, m->area_count + 1)) return false;
    memmove(&m->areas[at + 1], &m->areas[at], (m->area_count - at) * sizeof *m->areas);
    m->areas[at] = area;
    m->area_count++;
    return true;
}

static bool memory_aligned(const struct pvm_memory *m, uint64_t address, uint64_t length)
{
    return !(address % m->page) && !(length % m->page) && address <= top && length <= top - address;
}

/* Returns the part of an area from `skip` bytes on. The part does not own the initial bytes. */
static struct pvm_area area_tail(const struct pvm_area *a, uint64_t skip)
{
    return (struct pvm_area){.address = (uint32_t)(a->address + skip),
                             .length = a->length - skip,
                             .writable = a->writable,
                             .initial = bytes_slice(a->initial, (size_t)skip, a->initial.size)};
}

/* Splits the area that contains the address, if there is one, so that protect and unmap work on
 * whole areas. */
static bool area_split(struct pvm_memory *m, uint64_t address)
{
    size_t i = area_at(m, address);
    if (i == m->area_count || m->areas[i].address >= address) return true;
    struct pvm_area tail = area_tail(&m->areas[i], address - m->areas[i].address);
    if (m->areas[i].owned && tail.initial.size) {
        tail.owned = malloc(tail.initial.size);
        if (!tail.owned) return false;
        bytes_copy(tail.owned, tail.initial);
        tail.initial.data = tail.owned;
    }
    if (!area_insert(m, i + 1, tail)) {
        free(tail.owned);
        return false;
    }
    struct pvm_area *head = &m->areas[i];
    head->length = address - head->address;
    head->initial = bytes_slice(head->initial, 0, (size_t)head->length);
    return true;
}

bool pvm_memory_unmap(struct pvm_memory *m, uint64_t address, uint64_t length)
{
    if (!memory_aligned(m, address, length)) return false;
    if (!length || !m->area_count) return true;
    if (!area_split(m, address) || !area_split(m, address + length)) return false;
    size_t first = area_at(m, address), end = first;
    for (; end < m->area_count && m->areas[end].address < address + length; end++) {
        struct pvm_area *a = &m->areas[end];
        uint32_t page = a->address / PAGE, count = (uint32_t)(a->length / PAGE);
        memset(m->rights + page, 0, count);
        pvm_backing_drop(m, page, count);
        if (m->guarded) pvm_backing_protect(m, page, count, 0);
        free(a->owned);
    }
    memmove(&m->areas[first], &m->areas[end], (m->area_count - end) * sizeof *m->areas);
    m->area_count -= end - first;
    return true;
}

/* In a guarded machine, gives the host's pages the rights of the guest's pages. */
static bool memory_guard(struct pvm_memory *m, uint32_t page, uint32_t count, bool writable)
{
    unsigned rights = writable ? PVM_READ | PVM_WRITE : PVM_READ;
    return !m->guarded || pvm_backing_protect(m, page, count, rights);
}

/* Sets DIRTY on the pages that compiled code may have written, because compiled code does not
 * set it. */
static void memory_learn(const struct pvm_memory *m)
{
    for (size_t i = 0; m->guarded && i < m->area_count; i++)
        if (m->areas[i].writable)
            pvm_backing_dirty(m, m->areas[i].address / PAGE, (uint32_t)(m->areas[i].length / PAGE));
}

static uint8_t page_rights(bool writable)
{
    return writable ? PVM_READ | PVM_LOAD | PVM_WRITABLE : PVM_READ | PVM_LOAD;
}

/* The functions below are for watched pages. */

static void watch_page(const struct guard *g, uint8_t *rights)
{
    if (*rights && g->read) *rights &= (uint8_t)~PVM_LOAD;
    if (*rights && g->write) *rights = (uint8_t)((*rights & ~PVM_WRITE) | PVM_WATCHED);
}

static void unwatch_page(const struct guard *g, uint8_t *rights)
{
    (void)g;
    *rights = (uint8_t)((*rights & ~PVM_WATCHED) | (*rights & PVM_READ ? PVM_LOAD : 0));
}

static void each_watched(struct pvm_memory *m, void (*fn)(const struct guard *g, uint8_t *rights))
{
    for (size_t i = 0; m->guards && i < m->guards->count; i++) {
        const struct guard *g = &m->guards->list[i];
        uint64_t end = g->size > top - g->address ? top : g->address + g->size;
        if (g->address >= top) continue;
        for (uint64_t page = g->address / PAGE; page * PAGE < end; page++) fn(g, &m->rights[page]);
    }
}

static struct pvm_span guards_span(const struct guards *guards, bool write)
{
    struct pvm_span span = {2 * top, 0}; /* The span is empty, at an address that no access has. */
    for (size_t i = 0; guards && i < guards->count; i++) {
        const struct guard *g = &guards->list[i];
        if (!(write ? g->write : g->read) || g->address >= top) continue;
        uint64_t end = g->size > top - g->address ? top : g->address + g->size;
        uint64_t from = g->address < span.from ? g->address : span.from;
        uint64_t last = span.from + span.size;
        span = (struct pvm_span){from, (span.size && last > end ? last : end) - from};
    }
    return span;
}

void pvm_memory_watch(struct pvm_memory *m, struct guards *guards)
{
    each_watched(m, unwatch_page);
    m->guards = guards;
    m->watched_loads = guards_span(guards, false);
    m->watched_stores = guards_span(guards, true);
    each_watched(m, watch_page);
}

bool pvm_memory_watched(const struct pvm_memory *m, uint32_t address, unsigned n, bool write)
{
    return m->guards && guards_met(m->guards, address, n, write);
}

/* Copies the initial bytes of one page of an area. Returns false when all of them are zero. */
static bool initial_page(const struct pvm_area *a, uint32_t page, uint8_t *into)
{
    size_t at = ((size_t)page * PAGE) - a->address;
    penta_bytes part = bytes_slice(a->initial, at, PAGE);
    bytes_copy(into, part);
    memset(into + part.size, 0, PAGE - part.size);
    return part.size != 0;
}

bool pvm_memory_map(struct pvm_memory *m, uint64_t address, uint64_t length, bool writable,
                    penta_bytes initial, bool copy)
{
    if (!memory_aligned(m, address, length) || initial.size > length) return false;
    if (!length) return true;
    if (!pvm_memory_unmap(m, address, length)) return false;
    struct pvm_area area = {
        .address = (uint32_t)address, .length = length, .writable = writable, .initial = initial};
    if (copy && initial.size) {
        area.owned = malloc(initial.size);
        if (!area.owned) return false;
        bytes_copy(area.owned, initial);
        area.initial.data = area.owned;
    }
    uint32_t page = area.address / PAGE, count = (uint32_t)(length / PAGE);
    if (!pvm_backing_commit(m, page, count) || !area_insert(m, area_at(m, address), area)) {
        free(area.owned);
        return false;
    }
    for (size_t at = 0; at < initial.size; at += PAGE) {
        uint8_t *bytes = pvm_backing_page(m, page + (uint32_t)(at / PAGE), true);
        if (!bytes) return false;
        penta_bytes part = bytes_slice(initial, at, PAGE);
        bytes_copy(bytes, part);
    }
    memset(m->rights + page, page_rights(writable), count);
    each_watched(m, watch_page);
    return writable || memory_guard(m, page, count, false);
}

bool pvm_memory_protect(struct pvm_memory *m, uint64_t address, uint64_t length, bool writable)
{
    if (!memory_aligned(m, address, length)) return false;
    if (!length) return true;
    for (uint64_t page = address / PAGE; page < (address + length) / PAGE; page++)
        if (!m->rights[page]) return false;
    if (!area_split(m, address) || !area_split(m, address + length)) return false;
    for (size_t i = area_at(m, address); i < m->area_count; i++) {
        struct pvm_area *a = &m->areas[i];
        if (a->address >= address + length) break;
        a->writable = writable;
        if (!memory_guard(m, a->address / PAGE, (uint32_t)(a->length / PAGE), writable))
            return false;
        for (uint64_t p = a->address / PAGE; p < (a->address + a->length) / PAGE; p++)
            m->rights[p] = (uint8_t)((m->rights[p] & PVM_DIRTY) | page_rights(writable));
    }
    each_watched(m, watch_page);
    return true;
}

void pvm_memory_reset(struct pvm_memory *m)
{
    /* Giving more than MANY pages back to the host is faster than clearing them. */
    enum { MANY = 64 };
    memory_learn(m);
    for (size_t i = 0; i < m->area_count; i++) {
        const struct pvm_area *a = &m->areas[i];
        uint32_t first = a->address / PAGE, count = (uint32_t)(a->length / PAGE), dirty = 0;
        for (uint32_t p = first; p < first + count; p++) dirty += (m->rights[p] & PVM_DIRTY) != 0;
        if (!dirty) continue;
        bool dropped = dirty > MANY && !a->initial.size;
        if (!a->writable) /* The host itself may have written to a read-only page. */
            memory_guard(m, first, count, true);
        if (dropped) pvm_backing_drop(m, first, count);
        for (uint32_t p = first; p < first + count; p++) {
            if (!(m->rights[p] & PVM_DIRTY)) continue;
            uint8_t *bytes = dropped ? NULL : pvm_backing_page(m, p, false);
            if (bytes) initial_page(a, p, bytes);
            m->rights[p] = page_rights(a->writable);
        }
        if (!a->writable) memory_guard(m, first, count, false);
    }
    each_watched(m, watch_page);
}

/* The functions below are the slow paths of accesses. */

static bool memory_refuse(struct pvm_memory *m, uint32_t page, bool write)
{
    m->fault = page * PAGE & ~(m->page - 1);
    m->fault_write = write;
    m->fault_protected = m->rights[page] & PVM_READ;
    return false;
}

/* Tells whether all pages of an access allow it. The lowest page that does not allow it becomes
 * the fault. */
static bool memory_allowed(struct pvm_memory *m, uint32_t address, unsigned n, bool wraps,
                           uint8_t right)
{
    uint32_t page = address / PAGE, last = (uint32_t)(address + n - 1) / PAGE;
    bool first_ok = m->rights[page] & right, write = right == PVM_WRITABLE;
    if (page == last) return first_ok || memory_refuse(m, page, write);
    if (last < page) { /* The access goes past 2^32. */
        if (!wraps) return memory_refuse(m, page, write);
        return m->rights[last] & right ? first_ok || memory_refuse(m, page, write)
                                       : memory_refuse(m, last, write);
    }
    if (!first_ok) return memory_refuse(m, page, write);
    return (m->rights[last] & right) || memory_refuse(m, last, write);
}

bool pvm_memory_load(struct pvm_memory *m, uint32_t address, unsigned n, bool wraps,
                     uint64_t *value)
{
    if (!memory_allowed(m, address, n, wraps, PVM_READ)) return false;
    if (m->guards) guards_see(m->guards, address, n, false);
    uint64_t v = 0;
    for (unsigned i = n; i--;) {
        uint32_t at = address + i;
        const uint8_t *bytes = pvm_backing_page(m, at / PAGE, false);
        v = v << 8 | (bytes ? bytes[at % PAGE] : 0);
    }
    *value = v;
    return true;
}

/* Returns the bytes of the page and marks it as changed. When memory ran out, sets a fault and
 * returns NULL. */
static uint8_t *memory_touch(struct pvm_memory *m, uint32_t page)
{
    uint8_t *bytes = pvm_backing_page(m, page, true);
    if (!bytes) {
        memory_refuse(m, page, true);
        return NULL;
    }
    bool fast = (m->rights[page] & (PVM_WRITABLE | PVM_WATCHED)) == PVM_WRITABLE;
    m->rights[page] |= fast ? PVM_WRITE | PVM_DIRTY : PVM_DIRTY;
    return bytes;
}

bool pvm_memory_store(struct pvm_memory *m, uint32_t address, unsigned n, bool wraps,
                      uint64_t value)
{
    if (!memory_allowed(m, address, n, wraps, PVM_WRITABLE)) return false;
    uint8_t *first = memory_touch(m, address / PAGE);
    uint8_t *last = first ? memory_touch(m, (uint32_t)(address + n - 1) / PAGE) : NULL;
    if (!last) return false;
    if (m->guards) guards_see(m->guards, address, n, true);
    for (unsigned i = 0; i < n; i++) {
        uint32_t at = address + i;
        (at / PAGE == address / PAGE ? first : last)[at % PAGE] = (uint8_t)(value >> 8 * i);
    }
    return true;
}

uint64_t pvm_memory_fill(struct pvm_memory *m, uint32_t address, uint8_t value, uint64_t count)
{
    uint64_t done = 0;
    while (done < count) {
        uint64_t at = address + done;
        if (at >= top) { /* The address is after the last byte of memory. */
            memory_refuse(m, PVM_PAGES - 1, true);
            break;
        }
        uint32_t page = (uint32_t)(at / PAGE);
        uint64_t part = PAGE - at % PAGE < count - done ? PAGE - at % PAGE : count - done;
        if (!(m->rights[page] & PVM_WRITABLE)) {
            memory_refuse(m, page, true);
            break;
        }
        uint8_t *bytes = memory_touch(m, page);
        if (!bytes) break;
        memset(bytes + at % PAGE, value, (size_t)part);
        if (m->guards) guards_see(m->guards, at, part, true);
        done += part;
    }
    return done;
}

static bool memory_mapped(const struct pvm_memory *m, uint64_t address, size_t size)
{
    if (address > top || size > top - address) return false;
    if (!size) return true;
    for (uint64_t page = address / PAGE; page <= (address + size - 1) / PAGE; page++)
        if (!m->rights[page]) return false;
    return true;
}

bool pvm_memory_read(const struct pvm_memory *m, uint64_t address, void *into, size_t size)
{
    if (!memory_mapped(m, address, size)) return false;
    for (size_t done = 0; done < size;) {
        uint64_t at = address + done;
        size_t rest = PAGE - (size_t)(at % PAGE), part = rest < size - done ? rest : size - done;
        const uint8_t *bytes = pvm_backing_page(m, (uint32_t)(at / PAGE), false);
        if (bytes)
            memcpy((uint8_t *)into + done, bytes + at % PAGE, part);
        else
            memset((uint8_t *)into + done, 0, part);
        done += part;
    }
    return true;
}

bool pvm_memory_write(struct pvm_memory *m, uint64_t address, const void *from, size_t size)
{
    if (!memory_mapped(m, address, size)) return false;
    for (size_t done = 0; done < size;) {
        uint64_t at = address + done;
        size_t rest = PAGE - (size_t)(at % PAGE), part = rest < size - done ? rest : size - done;
        uint32_t page = (uint32_t)(at / PAGE);
        bool locked = !(m->rights[page] & PVM_WRITABLE);
        if (locked && !memory_guard(m, page, 1, true)) return false;
        uint8_t *bytes = memory_touch(m, page);
        if (!bytes) return false;
        memcpy(bytes + at % PAGE, (const uint8_t *)from + done, part);
        if (locked) memory_guard(m, page, 1, false);
        done += part;
    }
    return true;
}

bool pvm_memory_allows(const struct pvm_memory *m, uint64_t address, uint64_t size, uint8_t right)
{
    if (!size) return true;
    if (address >= top || size > top - address) return false;
    for (uint64_t page = address / PAGE; page <= (address + size - 1) / PAGE; page++)
        if (!(m->rights[page] & right)) return false;
    return true;
}

penta_bytes pvm_memory_view(const struct pvm_memory *m, uint64_t address, uint64_t size,
                            struct writer *scratch)
{
    if (!size) return (penta_bytes){0};
    if (!m->pages) return (penta_bytes){m->base + address, (size_t)size};
    scratch->out.size = 0;
    writer_fill(scratch, 0, (size_t)size);
    if (scratch->failed) return (penta_bytes){0};
    pvm_memory_read(m, address, scratch->out.data, (size_t)size);
    return writer_view(scratch);
}

void pvm_memory_changed(const struct pvm_memory *m, pvm_page_fn *fn, void *user)
{
    uint8_t initial[PAGE];
    memory_learn(m);
    for (size_t i = 0; i < m->area_count; i++) {
        const struct pvm_area *a = &m->areas[i];
        for (uint64_t p = a->address / PAGE; p < (a->address + a->length) / PAGE; p++) {
            if (!(m->rights[p] & PVM_DIRTY)) continue;
            const uint8_t *bytes = pvm_backing_page(m, (uint32_t)p, false);
            initial_page(a, (uint32_t)p, initial);
            if (bytes) fn(user, (uint32_t)p * PAGE, bytes, initial);
        }
    }
}
