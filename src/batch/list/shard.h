/* Which sources of a list a shard K of N has. By position, or, where sizes are known, each
 * source goes to the shard that has the fewest bytes so far: decided from the list alone, hence
 * the same in every process. */
#pragma once
#include "base/error.h"

enum { SHARD_MAX = 1000000 };

struct shard {
    uint64_t number, count; /* count 0: everything */
    uint64_t *loads;        /* by size: a heap of pairs load, number; NULL until the first size */
};

/* "K/N", K from 0; NULL or "": everything. */
bool shard_parse(const char *text, struct shard *out, penta_error *err);
void shard_free(struct shard *s);
/* The shard of the source at this position. `sized`: the list has sizes. False: memory ran out. */
bool shard_takes(struct shard *s, uint64_t position, bool sized, uint64_t size, bool *mine,
                 penta_error *err);
/* "K/N", "K", "auto" or "auto/N" as "K/N" in text; planned: N where the text has none, or 0. The
 * number of `auto` comes from the environment of the scheduler that started this process. */
bool shard_settle(const char *given, uint64_t planned, char text[48], penta_error *err);
