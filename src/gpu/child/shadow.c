/* Finds uninitialised reads: reads of bytes that were not written since their allocation.
 *
 *  To give the same report in every mode, the check follows the order of the host's calls, as
 * SERIAL mode would run them: allocations, transfers, and each task at its launch. How many
 * instructions a task executed is known only when it has ended; until then its launch and all
 * later calls wait in a queue. Each allocation has one bit per byte. At most EVENTS calls wait
 * and FINDINGS reads are reported; after that, nothing more is reported. */
#include <stdlib.h>
#include "gpu/child/device.h"
#include "base/array.h"
#include "gpu/child/key_set.h"

enum { EVENTS = 1 << 20, FINDINGS = 1 << 16 };

struct event {
    enum { EVENT_ALLOC, EVENT_FREE, EVENT_WRITE, EVENT_LAUNCH } kind;
    uint64_t address, size; /* for a launch, `address` has its id */
};

struct cells { /* the cells of one allocation */
    uint64_t base, size;
    uint64_t *written; /* a bit for each byte: 1 if it was written */
};

struct shadow {
    struct cells *cells; /* the cells of all allocations, sorted by base */
    size_t count, capacity;
    struct event *events; /* the queue, from `head` to `tail` */
    size_t head, tail, event_capacity;
    bool overflow;
    struct keys keys;
    struct wire_race_threads *found;
    size_t found_count, found_capacity;
};

bool shadow_init(struct device *d)
{
    if (!(d->settings.flags & GPU_INIT_CHECK)) return true;
    d->shadow = calloc(1, sizeof *d->shadow);
    return d->shadow != NULL;
}

void shadow_fini(struct device *d)
{
    struct shadow *s = d->shadow;
    d->shadow = NULL;
    if (!s) return;
    for (size_t i = 0; i < s->count; i++) free(s->cells[i].written);
    free(s->cells);
    free(s->events);
    free(s->found);
    keys_free(&s->keys);
    free(s);
}

/* Returns a word with the bits [from, to) set that are in the same word as bit `from`. `to` may
 * lie beyond that word. */
static uint64_t shadow_mask(uint64_t from, uint64_t to)
{
    uint64_t bits = UINT64_MAX << (from & 63), end = (from | 63) + 1;
    return to < end ? bits & (UINT64_MAX >> (end - to)) : bits;
}

static void set_bits(uint64_t *words, uint64_t from, uint64_t to)
{
    for (uint64_t at = from; at < to; at = (at | 63) + 1) words[at >> 6] |= shadow_mask(at, to);
}

/* Returns the first bit in [from, to) that has a value, or `to` if none has. */
static uint64_t find_bit(const uint64_t *words, uint64_t from, uint64_t to, bool value)
{
    for (uint64_t at = from; at < to; at = (at | 63) + 1) {
        uint64_t hits = (value ? words[at >> 6] : ~words[at >> 6]) & shadow_mask(at, to);
        if (hits) return (at & ~UINT64_C(63)) + (uint64_t)__builtin_ctzll(hits);
    }
    return to;
}

static size_t shadow_above(const struct shadow *s, uint64_t address)
{
    size_t low;
    ARRAY_SEARCH(low, 0, s->count, s->cells[low].base > address);
    return low;
}

/* Returns the allocation that contains all of a range at this call, or NULL. */
static struct cells *cells_of(const struct shadow *s, uint64_t address, uint64_t size)
{
    size_t i = shadow_above(s, address);
    struct cells *c = i ? &s->cells[i - 1] : NULL;
    if (!c || address - c->base >= c->size || size > c->size - (address - c->base)) return NULL;
    return c;
}

static void on_alloc(struct shadow *s, uint64_t base, uint64_t size)
{
    if (!ARRAY_RESERVE(s->cells, s->capacity, s->count + 1)) return;
    uint64_t *written = calloc((size_t)(size / 64 + 1), sizeof *written);
    if (!written) return;
    size_t i = shadow_above(s, base);
    memmove(&s->cells[i + 1], &s->cells[i], (s->count++ - i) * sizeof *s->cells);
    s->cells[i] = (struct cells){base, size, written};
}

static void on_free(struct shadow *s, uint64_t base)
{
    struct cells *c = cells_of(s, base, 1);
    if (!c) return;
    free(c->written);
    memmove(c, c + 1, (size_t)(s->cells + --s->count - c) * sizeof *c);
}

static void on_write(struct shadow *s, uint64_t address, uint64_t size)
{
    struct cells *c = size ? cells_of(s, address, size) : NULL;
    if (c) set_bits(c->written, address - c->base, address - c->base + size);
}

static void shadow_report(struct shadow *s, const struct task *task, uint32_t index,
                          uint64_t address, uint64_t length)
{
    if (s->found_count >= FINDINGS ||
        !keys_add(&s->keys, (struct key){task->kernel, NULL, index, 0}))
        return;
    if (!ARRAY_RESERVE(s->found, s->found_capacity, s->found_count + 1)) return;
    s->found[s->found_count++] = (struct wire_race_threads){.launch_a = task->record.launch_id,
                                                            .index_a = index,
                                                            .block_a = NO_INDEX,
                                                            .thread_a = NO_INDEX,
                                                            .launch_b = NO_INDEX,
                                                            .block_b = NO_INDEX,
                                                            .thread_b = NO_INDEX,
                                                            .index_b = NO_INDEX,
                                                            .address = address,
                                                            .length = length,
                                                            .kind = GPU_RACE_UNINITIALISED};
}

/* Finds the part of a span that is in one allocation. Returns false if the start of the span is
 * in no allocation. */
static bool part_of(const struct shadow *s, struct span *span, struct cells **c, uint64_t *from,
                    uint64_t *to)
{
    *c = cells_of(s, span->from, 1);
    if (!*c) return false;
    *from = span->from - (*c)->base;
    uint64_t last = span->last - (*c)->base;
    *to = last < (*c)->size ? last + 1 : (*c)->size;
    span->from = (*c)->base + *to;
    return true;
}

/* Checks the bytes that a grid read before writing them, then records the bytes that it wrote. */
static void on_grid(struct shadow *s, const struct task *task)
{
    const struct spans *exposed = grid_check_exposed(task->check),
                       *all = grid_check_accesses(task->check);
    struct cells *c;
    uint64_t from, to;
    for (size_t i = 0; i < exposed->count; i++) {
        struct span span = exposed->items[i];
        while (span.from <= span.last && part_of(s, &span, &c, &from, &to)) {
            uint64_t first = find_bit(c->written, from, to, false);
            if (first < to)
                shadow_report(s, task, span.index, c->base + first,
                              find_bit(c->written, first, to, true) - first);
        }
    }
    for (size_t i = 0; i < all->count; i++) {
        struct span span = all->items[i];
        if (!(grid_access_kind(task->kernel->program[span.index].op) & KBLOB_WRITES)) continue;
        while (span.from <= span.last && part_of(s, &span, &c, &from, &to))
            set_bits(c->written, from, to);
    }
}

static void on_task(struct shadow *s, const struct task *task)
{
    const struct kernel *kernel = task->kernel;
    if (task->check && kernel) {
        on_grid(s, task);
        return;
    }
    uint64_t executed = kernel ? task->record.instructions : 0;
    for (uint32_t i = 0; kernel && i < kernel->count && i < executed; i++) {
        const struct kblob_decoded *in = &kernel->program[i];
        uint64_t size = kblob_access_size(in);
        struct cells *c = size ? cells_of(s, in->arg0, size) : NULL;
        if (!c) continue;
        uint64_t from = in->arg0 - c->base, to = from + size;
        if (kblob_access_writes(in)) {
            set_bits(c->written, from, to);
            continue;
        }
        uint64_t first = find_bit(c->written, from, to, false);
        if (first < to)
            shadow_report(s, task, i, c->base + first,
                          find_bit(c->written, first, to, true) - first);
    }
}

static void shadow_drain(struct device *d)
{
    struct shadow *s = d->shadow;
    for (; s->head < s->tail; s->head++) {
        const struct event *e = &s->events[s->head];
        const struct task *task = e->kind == EVENT_LAUNCH ? d->tasks[e->address - 1] : NULL;
        if (task && task->run) return;
        switch (e->kind) {
        case EVENT_ALLOC: on_alloc(s, e->address, e->size); break;
        case EVENT_FREE: on_free(s, e->address); break;
        case EVENT_WRITE: on_write(s, e->address, e->size); break;
        case EVENT_LAUNCH: on_task(s, task); break;
        }
    }
    s->head = s->tail = 0;
}

static void shadow_push(struct device *d, struct event event)
{
    struct shadow *s = d->shadow;
    if (!s || s->overflow) return;
    if (s->tail == EVENTS || !ARRAY_RESERVE(s->events, s->event_capacity, s->tail + 1)) {
        s->overflow = true;
        return;
    }
    s->events[s->tail++] = event;
    shadow_drain(d);
}

void shadow_alloc(struct device *d, uint64_t base, uint64_t size)
{
    shadow_push(d, (struct event){EVENT_ALLOC, base, size});
}

void shadow_free(struct device *d, uint64_t base)
{
    shadow_push(d, (struct event){EVENT_FREE, base, 0});
}

void shadow_write(struct device *d, uint64_t address, uint64_t size)
{
    shadow_push(d, (struct event){EVENT_WRITE, address, size});
}

void shadow_launch(struct device *d, uint32_t launch)
{
    shadow_push(d, (struct event){EVENT_LAUNCH, launch, 0});
}

const struct wire_race_threads *shadow_findings(struct device *d, size_t *count)
{
    struct shadow *s = d->shadow;
    *count = 0;
    if (!s) return NULL;
    shadow_drain(d);
    *count = s->found_count;
    return s->found;
}
