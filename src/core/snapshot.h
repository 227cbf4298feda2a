/* Snapshots are the state of a machine as bytes, in one form for all machines (docs/snapshots.md).
 * Numbers are little-endian.
 *
 *     "PNTS" | u16 version | u16 number of the format | u64 XXH64 of the program's file
 *     | what the machine's walk writes
 *     | u64 XXH64 of all before
 *
 * One walk over the machine's fields serves both directions, so that they cannot disagree: each function below writes
 * the value when the machine is saved and replaces it when it is loaded. Loading writes straight into the machine. When a
 * walk finds a wrong value, it calls walk_wrong, and snapshot_load puts the machine back as it was. */
#pragma once
#include "base/reader.h"
#include "base/writer.h"
#include "core/engine.h"

struct walk {
    struct writer *out; /* the destination when the walk saves, or NULL when it loads */
    struct reader in;   /* the source when the walk loads; after an error it reads zeros */
    bool brief;         /* true to leave out what a machine keeps only to run faster */
};

static inline bool walk_loads(const struct walk *w) { return !w->out; }
static inline bool walk_failed(const struct walk *w) { return walk_loads(w) && w->in.err->code; }
/* Reports that the snapshot cannot be one of this machine. Loading ends with this message. */
void walk_wrong(struct walk *w, const char *why);

uint64_t walk_number(struct walk *w, uint64_t value); /* Walks over a number of 64 bits. */
#define WALK_NUMBER(w, field) ((field) = WALK_TYPED((field), walk_number((w), (uint64_t)(field))))
/* Walks over a number as one of the type of a field. Only the chosen row of the selection is computed. */
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

/* Walks over an array whose length the machine fixes, of numbers of 1, 2, 4 or 8 bytes each. */
void walk_numbers(struct walk *w, void *data, size_t count, size_t item);
/* Walks over the number of items that follow. Each takes at least `item` bytes. */
size_t walk_count(struct walk *w, size_t count, size_t item);
/* Walks over the count and the items of an array whose size depends on the program. */
void walk_array(struct walk *w, void *items, size_t *count, size_t *capacity, size_t item);

/* Walks over memory that starts as zeros, and saves only the pages that have another byte. Nothing after the first
 * `used` bytes differs from zero. Loading leaves zeros where the snapshot has no page. */
void walk_memory(struct walk *w, uint8_t *bytes, uint64_t size, uint64_t used);

bool snapshot_save(const penta_vm *vm, struct writer *out);
/* Saves and loads what a brief walk writes, without head and checksum, for differences of states.
 * If loading fails, the machine is as it was before. */
bool snapshot_save_state(const penta_vm *vm, struct writer *out);
bool snapshot_load_state(penta_vm *vm, penta_bytes saved, penta_error *err);
/* Loads a snapshot that this same machine has made. If that fails nevertheless, the machine
 * cannot be used any more. */
bool snapshot_restore(penta_vm *vm, penta_bytes saved, penta_error *err);
/* Loads a snapshot. When it returns false, the machine is as it was before. */
bool snapshot_load(penta_vm *vm, penta_bytes saved, penta_error *err);
