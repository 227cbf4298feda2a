/* Finds what the threads of a grid access, and the races among them (DEVICE 4.5).
 *
 *  Every byte that a grid accesses has a cell, which says who wrote the byte last, and who read
 * it or changed it by an atomic instruction. Two accesses are ordered if one thread makes both,
 * or if both are by threads of a block that has passed a barrier between them. Two readers are
 * enough to find a race with any later write: two of different blocks, or two threads of one
 * block since its last barrier. The same holds for atomic instructions, which do not race with
 * each other.
 *
 *  For races with other tasks, and for uninitialised reads, the bytes that each instruction
 * accessed are kept as spans. At most PAGES pages of cells on the device, SPANS spans and RACES
 * races of a task are kept; more are left out. */
#include <stdlib.h>
#include "base/array.h"
#include "gpu/child/device.h"
#include "gpu/child/key_set.h"

enum { PAGE = 64, PAGES = 1 << 16, SPANS = 1 << 22, RACES = 1 << 12, LOG = 512 };
#define NOBODY UINT32_MAX

struct mark { /* one access to the byte of a cell */
    uint32_t thread, barriers, index;
};
struct cell {
    struct mark write, reads[2], atomics[2];
    uint8_t value; /* the value that an access wrote */
};
struct page {
    uint64_t number;
    struct cell cells[PAGE];
};

struct grid_check {
    struct kblob_access log[LOG];
    const struct kernel *kernel;
    struct device *device;
    uint32_t launch, block_threads;
    struct page **pages; /* a hash table; `capacity` is a power of two */
    size_t page_count, page_capacity;
    struct spans accesses, exposed;
    struct keys keys;
    struct wire_race_threads *races;
    size_t race_count, race_capacity;
};

unsigned grid_access_kind(uint8_t op)
{
    switch (op) {
    case KBLOB_OP_READ8:
    case KBLOB_OP_READ64:
    case KBLOB_OP_LD8:
    case KBLOB_OP_LD16:
    case KBLOB_OP_LD32:
    case KBLOB_OP_LD64: return KBLOB_READS;
    case KBLOB_OP_WRITE8:
    case KBLOB_OP_WRITE64:
    case KBLOB_OP_MEMSET:
    case KBLOB_OP_ST8:
    case KBLOB_OP_ST16:
    case KBLOB_OP_ST32:
    case KBLOB_OP_ST64: return KBLOB_WRITES;
    case KBLOB_OP_AADD32:
    case KBLOB_OP_AADD64:
    case KBLOB_OP_CAS32:
    case KBLOB_OP_CAS64: return KBLOB_READS | KBLOB_WRITES | KBLOB_ATOMIC;
    default: return 0;
    }
}

static int by_index(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    if (x->index != y->index) return x->index < y->index ? -1 : 1;
    return x->from < y->from ? -1 : x->from > y->from;
}

/* Sorts the spans and joins those of one instruction that touch each other. */
static void spans_settle(struct spans *s)
{
    if (s->count < 2 || s->settled == s->count) return;
    qsort(s->items, s->count, sizeof *s->items, by_index);
    size_t kept = 0;
    for (size_t i = 1; i < s->count; i++) {
        struct span *last = &s->items[kept];
        const struct span *next = &s->items[i];
        if (next->index != last->index || next->from > last->last + 1)
            s->items[++kept] = *next;
        else if (next->last > last->last)
            last->last = next->last;
    }
    s->settled = s->count = kept + 1;
}

static void spans_add(struct spans *s, struct span span)
{
    if (s->full) return;
    /* Joining spans makes room. If it does not free half of the array, the array grows. */
    if (s->count == s->capacity) {
        spans_settle(s);
        size_t more = s->capacity ? s->capacity * 2 : 256;
        if (s->count * 2 >= s->capacity &&
            (more > SPANS || !array_reserve(&s->items, &s->capacity, more, sizeof *s->items)))
            s->full = s->count == s->capacity;
    }
    if (!s->full) s->items[s->count++] = span;
}

static size_t grid_check_hash(uint64_t number, size_t capacity)
{
    return (size_t)(number * UINT64_C(0x9E3779B97F4A7C15) >> 20) & (capacity - 1);
}

static void grid_check_insert(struct page **pages, size_t capacity, struct page *page)
{
    size_t i = grid_check_hash(page->number, capacity);
    while (pages[i]) i = (i + 1) & (capacity - 1);
    pages[i] = page;
}

static bool grid_check_grow(struct grid_check *c)
{
    size_t capacity = c->page_capacity ? c->page_capacity * 2 : 64;
    struct page **pages = calloc(capacity, sizeof *pages);
    if (!pages) return false;
    for (size_t i = 0; i < c->page_capacity; i++)
        if (c->pages[i]) grid_check_insert(pages, capacity, c->pages[i]);
    free(c->pages);
    c->pages = pages;
    c->page_capacity = capacity;
    return true;
}

/* Finds or makes the page with a cell. A cell whose bits are all 1 means that no thread has
 * accessed its byte. */
static struct page *page_of(struct grid_check *c, uint64_t number)
{
    for (size_t i = c->page_capacity ? grid_check_hash(number, c->page_capacity) : 0;
         c->page_capacity && c->pages[i]; i = (i + 1) & (c->page_capacity - 1))
        if (c->pages[i]->number == number) return c->pages[i];
    if (c->device->check_pages >= PAGES ||
        (c->page_count * 2 >= c->page_capacity && !grid_check_grow(c)))
        return NULL;
    struct page *page = malloc(sizeof *page);
    if (!page) return NULL;
    memset(page, 0xff, sizeof *page);
    page->number = number;
    grid_check_insert(c->pages, c->page_capacity, page);
    c->page_count++;
    c->device->check_pages++;
    return page;
}

/* Returns the number of the page for an address. Each block has its own shared memory at the
 * same address, so these pages are numbered by block. */
static uint64_t page_number(const struct grid_check *c, const struct kblob_access *a, uint64_t at)
{
    uint64_t number = at / PAGE;
    if (at >= KBLOB_SHARED_BASE)
        number += (a->thread / c->block_threads) * (uint64_t)(2 * KBLOB_SHARED_MAX / PAGE);
    return number;
}

/* The functions below find out which accesses are ordered. */

static bool same_block(const struct grid_check *c, uint32_t x, uint32_t y)
{
    return x / c->block_threads == y / c->block_threads;
}

static bool grid_check_unordered(const struct grid_check *c, const struct mark *m,
                                 const struct kblob_access *a)
{
    if (m->thread == NOBODY || m->thread == a->thread) return false;
    return !same_block(c, m->thread, a->thread) || m->barriers == a->barriers;
}

/* Adds a mark to the two marks that a cell has; the comment at the top of this file says why two
 * are enough. */
static void add_mark(const struct grid_check *c, struct mark marks[2], const struct mark *new)
{
    struct mark *first = &marks[0], *second = &marks[1];
    bool one_block = first->thread != NOBODY && same_block(c, first->thread, new->thread);
    if (first->thread == NOBODY ||
        (one_block && (first->barriers < new->barriers || first->thread == new->thread))) {
        bool passed = first->thread != NOBODY && first->barriers < new->barriers;
        if (passed && second->thread != NOBODY && same_block(c, second->thread, new->thread))
            second->thread = NOBODY;
        *first = *new;
    } else if (!one_block || second->thread == NOBODY) {
        *second = *new;
    }
}

static void grid_check_report(struct grid_check *c, const struct mark *m,
                              const struct kblob_access *a, uint64_t at, uint64_t length,
                              uint32_t kind, bool benign)
{
    uint32_t low = m->index < a->pc ? m->index : a->pc, high = m->index < a->pc ? a->pc : m->index;
    if (c->race_count >= RACES || !keys_add(&c->keys, (struct key){c->kernel, NULL, low, high}) ||
        !ARRAY_RESERVE(c->races, c->race_capacity, c->race_count + 1))
        return;
    struct mark mine = {a->thread, a->barriers, a->pc};
    const struct mark *x = m->thread < a->thread ? m : &mine, *y = x == m ? &mine : m;
    c->races[c->race_count++] = (struct wire_race_threads){.launch_a = c->launch,
                                                           .index_a = x->index,
                                                           .block_a = x->thread / c->block_threads,
                                                           .thread_a = x->thread % c->block_threads,
                                                           .launch_b = c->launch,
                                                           .index_b = y->index,
                                                           .block_b = y->thread / c->block_threads,
                                                           .thread_b = y->thread % c->block_threads,
                                                           .address = at,
                                                           .length = length,
                                                           .kind = kind,
                                                           .benign = benign};
}

/* Returns the mark of a cell that races with an access, or NULL. */
static const struct mark *grid_check_racing(const struct grid_check *c, const struct cell *cell,
                                            const struct kblob_access *a, uint32_t *kind)
{
    bool writes = a->kind & KBLOB_WRITES;
    *kind = writes ? GPU_RACE_WRITE_WRITE : GPU_RACE_READ_WRITE;
    if (grid_check_unordered(c, &cell->write, a)) return &cell->write;
    for (int i = 0; i < 2 && !(a->kind & KBLOB_ATOMIC); i++)
        if (grid_check_unordered(c, &cell->atomics[i], a)) return &cell->atomics[i];
    *kind = GPU_RACE_READ_WRITE;
    for (int i = 0; i < 2 && writes; i++)
        if (grid_check_unordered(c, &cell->reads[i], a)) return &cell->reads[i];
    return NULL;
}

static uint8_t byte_of(const struct kblob_access *a, uint64_t n)
{
    return n < 8 ? (uint8_t)(a->value >> 8 * n) : 0;
}

struct finding { /* adjacent bytes that race with the same access */
    struct mark with;
    uint64_t from, length;
    uint32_t kind;
    bool benign;
};

static void grid_check_flush(struct grid_check *c, const struct kblob_access *a, struct finding *f)
{
    if (f->length) grid_check_report(c, &f->with, a, f->from, f->length, f->kind, f->benign);
    f->length = 0;
}

static void grid_check_touch(struct grid_check *c, struct cell *cell, const struct kblob_access *a,
                             uint64_t at, struct finding *f)
{
    uint32_t kind;
    const struct mark *m = grid_check_racing(c, cell, a, &kind);
    uint8_t value = byte_of(a, at - a->address);
    bool same = m == &cell->write && kind == GPU_RACE_WRITE_WRITE && !(a->kind & KBLOB_ATOMIC) &&
                cell->value == value;
    if (!m || !f->length || memcmp(m, &f->with, sizeof *m) || kind != f->kind)
        grid_check_flush(c, a, f);
    if (m && !f->length) *f = (struct finding){*m, at, 0, kind, true};
    if (m) {
        f->length++;
        f->benign &= same;
    }
    struct mark mine = {a->thread, a->barriers, a->pc};
    if (a->kind & KBLOB_ATOMIC) {
        add_mark(c, cell->atomics, &mine);
    } else if (a->kind & KBLOB_WRITES) {
        cell->write = mine;
        cell->value = value;
    } else {
        add_mark(c, cell->reads, &mine);
    }
}

static void grid_check_access(struct grid_check *c, const struct kblob_access *a)
{
    struct finding f = {.length = 0};
    struct page *page = NULL;
    uint64_t exposed = 0;
    bool reads = a->kind & KBLOB_READS, shared = a->address >= KBLOB_SHARED_BASE;
    for (uint64_t i = 0; i < a->size; i++) {
        uint64_t at = a->address + i, number = page_number(c, a, at);
        if (!page || page->number != number) page = page_of(c, number);
        if (!page) break; /* The limit of pages is reached, or memory ran out. */
        struct cell *cell = &page->cells[at % PAGE];
        bool written = cell->write.thread != NOBODY || cell->atomics[0].thread != NOBODY;
        if (reads && !written)
            exposed++;
        else if (exposed && !shared)
            spans_add(&c->exposed, (struct span){at - exposed, at - 1, a->pc}), exposed = 0;
        grid_check_touch(c, cell, a, at, &f);
    }
    uint64_t end = a->address + a->size;
    if (exposed && !shared) spans_add(&c->exposed, (struct span){end - exposed, end - 1, a->pc});
    grid_check_flush(c, a, &f);
    if (!shared) spans_add(&c->accesses, (struct span){a->address, end - 1, a->pc});
}

struct grid_check *grid_check_new(struct run *run)
{
    struct grid_check *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    struct kblob_grid *g = &run->vm.grid;
    c->kernel = run->task->kernel;
    c->device = run->device;
    c->launch = run->task->record.launch_id;
    c->block_threads = g->block_threads;
    g->log = c->log;
    g->log_capacity = LOG;
    return c;
}

void grid_check_take(struct run *run)
{
    struct kblob_grid *g = &run->vm.grid;
    bool checks = run->device->settings.flags & (GPU_RACE_CHECK | GPU_INIT_CHECK);
    for (size_t i = 0; checks && i < g->log_count; i++)
        grid_check_access(run->task->check, &g->log[i]);
    g->log_count = 0;
}

void grid_check_end(struct grid_check *c)
{
    for (size_t i = 0; i < c->page_capacity; i++) free(c->pages[i]);
    free(c->pages);
    c->pages = NULL;
    c->device->check_pages -= c->page_count;
    c->page_count = c->page_capacity = 0;
    spans_settle(&c->accesses);
    spans_settle(&c->exposed);
}

void grid_check_free(struct grid_check *c)
{
    if (!c) return;
    grid_check_end(c);
    free(c->accesses.items);
    free(c->exposed.items);
    free(c->races);
    keys_free(&c->keys);
    free(c);
}

const struct spans *grid_check_accesses(struct grid_check *c)
{
    spans_settle(&c->accesses); /* For a task that still runs, these are its accesses so far. */
    return &c->accesses;
}

const struct spans *grid_check_exposed(const struct grid_check *c) { return &c->exposed; }

const struct wire_race_threads *grid_check_races(const struct grid_check *c, size_t *count)
{
    *count = c->race_count;
    return c->races;
}
