/* Declares which sources of a list belong to shard K of N. Sources are dealt in turn, or, when
 * sizes are known, each goes to the shard that has the fewest bytes so far. The list alone
 * decides, so every process comes to the same result. */
#pragma once
#include "base/error.h"

enum { SHARD_MAX = 1000000 };

struct shard {
    uint64_t number, count; /* a count of 0 means that one shard has everything */
    uint64_t *loads;        /* a heap of pairs (load, shard), when sizes decide; NULL until the
                             * first size */
};

/* Reads "K/N" with K from 0. NULL or "" means everything. */
bool shard_parse(const char *text, struct shard *out, penta_error *err);
void shard_free(struct shard *s);
/* Sets *mine when the source at this position belongs to the shard. `sized` means that the list
 * has sizes. Returns false when memory ran out. */
bool shard_takes(struct shard *s, uint64_t position, bool sized, uint64_t size, bool *mine,
                 penta_error *err);
/* Writes "K/N", "K", "auto" or "auto/N" as "K/N" to `text`. `planned` is the N that is used when
 * none is given, or 0. The K of `auto` comes from the environment of the scheduler that started
 * this process. */
bool shard_settle(const char *given, uint64_t planned, char text[48], penta_error *err);
