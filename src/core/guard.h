/* Guards are ranges of memory that a debugger watches. While a machine has guards, an engine
 * that watches them stops with PENTA_STOP_BREAK after an instruction that accessed one. `hit`
 * tells which. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GUARDS_MAX = 64 };

struct guard {
    uint64_t address, size;
    bool read, write;
};

struct guards {
    const struct guard *list;
    size_t count;
    uint64_t hit; /* has a bit for each guard; the caller clears it before a run */
};

/* Tells whether an access meets a guard. The size of an access is never 0. */
static inline bool guard_meets(const struct guard *g, uint64_t address, uint64_t size, bool write)
{
    bool kind = write ? g->write : g->read;
    return kind && (address - g->address < g->size || g->address - address < size);
}

/* Returns the guards that an access meets, with a bit for each. */
static inline uint64_t guards_met(const struct guards *g, uint64_t address, uint64_t size,
                                  bool write)
{
    uint64_t met = 0;
    for (size_t i = 0; i < g->count; i++)
        if (guard_meets(&g->list[i], address, size, write)) met |= UINT64_C(1) << i;
    return met;
}

static inline void guards_see(struct guards *g, uint64_t address, uint64_t size, bool write)
{
    if (g->count) g->hit |= guards_met(g, address, size, write);
}
