/* Declares a cache of results by digest, options and version. The cache is a folder with a file
 * for each result, shared between runs and hosts. A file is written under a temporary name and
 * then renamed, and it carries a checksum, so that neither two writers nor a power failure leave
 * a damaged file that is believed. */
#pragma once
#include "base/writer.h"
#include "batch/work/protocol.h"

struct cache_key {
    const char *folder;
    const uint8_t *job;      /* digest of verb, options and version */
    const uint8_t *digest;   /* digest of the source */
    const char *name, *grid; /* name and grid of the source; grid may be NULL */
};
/* Finds a result: the members of a record after the digest, as one JSON object, with the names
 * of the key. `out` is emptied first. Returns false when the cache has no such result. */
bool cache_find(const struct cache_key *key, struct writer *out);
/* Stores a result. When that fails, the next run finds nothing. */
void cache_keep(const struct cache_key *key, penta_bytes object);
