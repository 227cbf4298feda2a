/* The state that services see: values under keys of 31 bytes, in layers.
 *
 * A layer holds the changes against the layer below it. The lowest one holds the state itself, as
 * far as it was needed: what it lacks it asks from a source, if there is one. Each run of a service
 * has a layer of its own, so that runs which start from the same state do not see each other's
 * changes, and the changes of a run can be kept or dropped as a whole.
 *
 * A layer can be marked and taken back to the mark. For that only the first change of a key after
 * the mark is noted: changing a value often takes no more memory. */
#pragma once
#include "base/long_work.h"
#include "base/writer.h"
#include "penta/jam.h"

enum { JAM_KEY = PENTA_JAM_KEY, JAM_HASH = 32 };

/* Shared between layers. The bytes are a name, then the value. The name, if known, is what the hash
 * in the state key was made of: a storage key, or a request's hash and length. */
struct jam_value {
    uint32_t refs, name_size;
    size_t size; /* of the value */
    uint8_t bytes[];
};

struct jam_entry {
    uint8_t key[JAM_KEY];
    bool used;
    uint32_t mark;           /* the number of the mark after which its change was noted */
    struct jam_value *value; /* NULL: there is none */
};

struct jam_undo {
    uint8_t key[JAM_KEY];
    bool used; /* the layer had the key */
    struct jam_value *value;
};

struct jam_layer {
    struct jam_layer *below;   /* NULL: the lowest */
    penta_jam_source source;   /* of the lowest; get may be NULL */
    struct jam_entry *entries; /* a table with open addressing; capacity is a power of two */
    size_t count, capacity;
    struct jam_undo *undo;
    size_t undo_count, undo_capacity;
    uint32_t mark;      /* 0: changes are not noted */
    uint64_t seed;      /* of the hash function, random because programs choose keys */
    bool plain_records; /* account records without a version byte */
    bool failed;        /* memory ran out: tested once, at the end */
};

void jam_layer_init(struct jam_layer *l, struct jam_layer *below);
void jam_layer_fini(struct jam_layer *l);

/* The value as this layer sees it, borrowed until the next change; NULL: none. */
const struct jam_value *jam_layer_find(struct jam_layer *l, const uint8_t *key);
bool jam_layer_get(struct jam_layer *l, const uint8_t *key, penta_bytes *value);
void jam_layer_set(struct jam_layer *l, const uint8_t *key, penta_bytes name, penta_bytes value);
/* The same for a large value; false: the work was ended, and nothing has changed. */
bool jam_layer_set_work(struct jam_layer *l, const uint8_t *key, penta_bytes name,
                        penta_bytes value, struct long_work *work);
void jam_layer_remove(struct jam_layer *l, const uint8_t *key);
/* Copies one change, or all changes, of a layer to another. */
void jam_layer_take(struct jam_layer *to, const struct jam_entry *entry);
void jam_layer_merge(struct jam_layer *to, const struct jam_layer *from);

void jam_layer_mark(struct jam_layer *l);
void jam_layer_rollback(struct jam_layer *l); /* to the mark, which stays */
void jam_layer_clear(struct jam_layer *l);

/* The entries of this layer sorted by key, in a list that the caller frees; NULL: no memory. */
const struct jam_entry **jam_layer_sorted(const struct jam_layer *l, size_t *count);

static inline penta_bytes jam_value_name(const struct jam_value *v)
{
    return (penta_bytes){v->bytes, v->name_size};
}
static inline penta_bytes jam_value_bytes(const struct jam_value *v)
{
    return (penta_bytes){v->bytes + v->name_size, v->size};
}
