/* The state that services see: values under keys of 31 bytes, in layers.
 *
 * A layer holds the changes against the layer below it. The lowest layer holds the part of the
 * state that was needed so far; it asks a source, if there is one, for every other key. Each run
 * of a service has a layer of its own. So runs that start from the same state do not see each
 * other's changes, and the changes of a run can be kept or dropped as a whole.
 *
 * A layer can be marked and taken back to the mark. For that only the first change of a key
 * after the mark is noted, so changing one value often needs no more memory. */
#pragma once
#include "base/long_work.h"
#include "base/writer.h"
#include "penta/jam.h"

enum { JAM_KEY = PENTA_JAM_KEY, JAM_HASH = 32 };

/* A struct jam_value is a value, which layers share. Its bytes are a name and then the value.
 * The name, when it is known, is what the hash in the state key was made of: a storage key, or
 * the hash and length of a request. */
struct jam_value {
    uint32_t refs, name_size;
    size_t size; /* the size of the value, without the name */
    uint8_t bytes[];
};

struct jam_entry {
    uint8_t key[JAM_KEY];
    bool used;
    uint32_t mark;           /* the number of the mark after which the change was noted */
    struct jam_value *value; /* the value; NULL: the key has none */
};

struct jam_undo {
    uint8_t key[JAM_KEY];
    bool used; /* The layer had the key. */
    struct jam_value *value;
};

struct jam_layer {
    struct jam_layer *below;   /* the layer below; NULL: this is the lowest layer */
    penta_jam_source source;   /* the source of the lowest layer; its function `get` may be NULL */
    struct jam_entry *entries; /* a table with open addressing, whose capacity is a power of two */
    size_t count, capacity;
    struct jam_undo *undo;
    size_t undo_count, undo_capacity;
    uint32_t mark; /* the number of the present mark; 0: changes are not noted */
    /* `seed` is the seed of the hash function, which is random because programs choose the keys. */
    uint64_t seed;
    bool plain_records; /* Account records have no version byte. */
    bool failed;        /* Memory ran out, which is tested once, at the end. */
};

void jam_layer_init(struct jam_layer *l, struct jam_layer *below);
void jam_layer_fini(struct jam_layer *l);

/* Returns the value as this layer sees it, which is valid until the next change, or NULL when
 * there is none. */
const struct jam_value *jam_layer_find(struct jam_layer *l, const uint8_t *key);
bool jam_layer_get(struct jam_layer *l, const uint8_t *key, penta_bytes *value);
void jam_layer_set(struct jam_layer *l, const uint8_t *key, penta_bytes name, penta_bytes value);
/* Sets a large value as jam_layer_set does. Returns false when an interrupt ended the work; then
 * nothing has changed. */
bool jam_layer_set_work(struct jam_layer *l, const uint8_t *key, penta_bytes name,
                        penta_bytes value, struct long_work *work);
void jam_layer_remove(struct jam_layer *l, const uint8_t *key);
/* jam_layer_take copies one change of a layer to another layer, jam_layer_merge all changes. */
void jam_layer_take(struct jam_layer *to, const struct jam_entry *entry);
void jam_layer_merge(struct jam_layer *to, const struct jam_layer *from);

void jam_layer_mark(struct jam_layer *l);
void jam_layer_rollback(struct jam_layer *l); /* Goes back to the mark, which stays. */
void jam_layer_clear(struct jam_layer *l);

/* Returns the entries of this layer sorted by key, in a list that the caller frees, or NULL when
 * memory ran out. */
const struct jam_entry **jam_layer_sorted(const struct jam_layer *l, size_t *count);

static inline penta_bytes jam_value_name(const struct jam_value *v)
{
    return (penta_bytes){v->bytes, v->name_size};
}
static inline penta_bytes jam_value_bytes(const struct jam_value *v)
{
    return (penta_bytes){v->bytes + v->name_size, v->size};
}
