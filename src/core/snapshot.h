/* A machine as bytes, the same form for every machine (docs/snapshots.md). Numbers are
 * little-endian.
 *
 *     "PNTS" | u16 version | u16 number of the format | u64 XXH64 of the program's file
 *     | what the machine's walk writes
 *     | u64 XXH64 of all before
 *
 * One walk over the machine's fields serves both directions, so that they cannot disagree: in each
 * function below, saving writes the value and loading replaces it. Loading writes straight into
 * the machine; what turns out wrong is reported with walk_wrong, and snapshot_load puts the machine
 * back as it was. */
#pragma once
#include "base/reader.h"
#include "base/writer.h"
#include "core/engine.h"

struct walk {
    struct writer *out; /* saving; NULL when loading */
    struct reader in;   /* loading: after an error all that is read is zero */
};

static inline bool walk_loads(const struct walk *w) { return !w->out; }
static inline bool walk_failed(const struct walk *w) { return walk_loads(w) && w->in.err->code; }
/* The snapshot cannot be one of this machine: loading ends with this message. */
void walk_wrong(struct walk *w, const char *why);

uint64_t walk_number(struct walk *w, uint64_t value); /* as u64 */
#define WALK_NUMBER(w, field) ((field) = WALK_TYPED((field), walk_number((w), (uint64_t)(field))))
/* A number as one of the type of a field; of the rows, only the one that is chosen is computed. */
#define WALK_TYPED(field, number)                                                                  \
    _Generic((field), bool                                                                         \
             : (bool)(number), signed char                                                         \
             : (signed char)(number), unsigned char                                                \
             : (unsigned char)(number), short                                                      \
             : (short)(number), unsigned short                                                     \
             : (unsigned short)(number), int                                                       \
             : (int)(number), unsigned                                                             \
             : (unsigned)(number), long                                                            \
             : (long)(number), unsigned long                                                       \
             : (unsigned long)(number), long long                                                  \
             : (long long)(number), unsigned long long                                             \
             : (unsigned long long)(number))

/* An array of known length, of numbers of 1, 2, 4 or 8 bytes each. */
void walk_numbers(struct walk *w, void *data, size_t count, size_t item);
/* How many items follow, which take at least so many bytes each. */
size_t walk_count(struct walk *w, size_t count, size_t item);
/* Both of them, for an array that grows with the program. */
void walk_array(struct walk *w, void *items, size_t *count, size_t *capacity, size_t item);

/* Memory that starts as zeros: only pages with something in them are kept. `used`: nothing after it
 * differs from zero. Loading leaves zeros where the snapshot has no page. */
void walk_memory(struct walk *w, uint8_t *bytes, uint64_t size, uint64_t used);

bool snapshot_save(const penta_vm *vm, struct writer *out);
/* One that this very machine has made: when it fails all the same, the machine is useless. */
bool snapshot_restore(penta_vm *vm, penta_bytes saved, penta_error *err);
/* False: the machine is as before. */
bool snapshot_load(penta_vm *vm, penta_bytes saved, penta_error *err);
