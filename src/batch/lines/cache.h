/* Results by digest, options and version: a folder with a file for each, shared between runs and
 * hosts. A file is written under a name of its own and renamed, and carries a checksum, so that
 * two writers or a failure of power never leave a torn one that is believed. */
#pragma once
#include "base/writer.h"
#include "batch/work/protocol.h"

struct cache_key {
    const char *folder;
    const uint8_t *job;      /* digest of verb, options and version */
    const uint8_t *digest;   /* of the source */
    const char *name, *grid; /* of the source; grid may be NULL */
};
/* What is kept: the members of a record after the digest, as one JSON object. `out` is emptied
 * first; its names are those of the key. False: there is none. */
bool cache_find(const struct cache_key *key, struct writer *out);
/* Does nothing where that fails: the next run finds nothing. */
void cache_keep(const struct cache_key *key, penta_bytes object);
