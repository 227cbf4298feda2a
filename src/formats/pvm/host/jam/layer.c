/* Keeps layers of keys and values (layer.h): a hash table with open addressing, values that
 * layers share by counting references, and a list of old values for the way back to a mark. */
#include "pvm/host/jam/layer.h"
#include "base/array.h"
#include "base/bytes.h"
#include "crypto/hash.h"
#include <stdlib.h>
#include <string.h>

void jam_layer_init(struct jam_layer *l, struct jam_layer *below)
{
    *l = (struct jam_layer){.below = below, .plain_records = below && below->plain_records};
    if (below)
        l->seed = below->seed;
    else
        random_bytes(&l->seed, sizeof l->seed);
}

static void layer_drop(struct jam_value *v)
{
    if (v && !--v->refs) free(v);
}

static struct jam_value *layer_share(struct jam_value *v)
{
    if (v) v->refs++;
    return v;
}

static void forget_undo(struct jam_layer *l)
{
    for (size_t i = 0; i < l->undo_count; i++) layer_drop(l->undo[i].value);
    l->undo_count = 0;
}

void jam_layer_clear(struct jam_layer *l)
{
    forget_undo(l);
    for (size_t i = 0; l->count && i < l->capacity; i++) {
        if (l->entries[i].used) layer_drop(l->entries[i].value);
        l->entries[i] = (struct jam_entry){0};
    }
    l->count = 0;
}

void jam_layer_fini(struct jam_layer *l)
{
    jam_layer_clear(l);
    free(l->entries);
    free(l->undo);
    *l = (struct jam_layer){0};
}

static uint64_t key_hash(const struct jam_layer *l, const uint8_t *key)
{
    const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t h = l->seed;
    for (unsigned at = 0; at < 24; at += 8) {
        h = (h ^ bytes_get64(key + at)) * odd;
        h ^= h >> 29;
    }
    h = (h ^ bytes_get64(key + JAM_KEY - 8)) * odd;
    return h ^ h >> 32;
}

/* Returns the entry of the key, or the free entry where the key belongs. The table is never
 * full. */
static struct jam_entry *layer_place(const struct jam_layer *l, const uint8_t *key)
{
    size_t mask = l->capacity - 1, i = (size_t)key_hash(l, key) & mask;
    while (l->entries[i].used && memcmp(l->entries[i].key, key, JAM_KEY)) i = (i + 1) & mask;
    return &l->entries[i];
}

static struct jam_entry *layer_find(const struct jam_layer *l, const uint8_t *key)
{
    struct jam_entry *e = l->capacity ? layer_place(l, key) : NULL;
    return e && e->used ? e : NULL;
}

static bool layer_grow(struct jam_layer *l)
{
    if (4 * (l->count + 1) <= 3 * l->capacity) return true;
    struct jam_layer more = *l;
    more.capacity = l->capacity ? 2 * l->capacity : 16;
    more.entries = calloc(more.capacity, sizeof *more.entries);
    if (!more.entries) return false;
    for (size_t i = 0; i < l->capacity; i++)
        if (l->entries[i].used) *layer_place(&more, l->entries[i].key) = l->entries[i];
    free(l->entries);
    *l = more;
    return true;
}

/* Removes the key and closes the gap in the table. */
static void layer_erase(struct jam_layer *l, struct jam_entry *e)
{
    size_t mask = l->capacity - 1, hole = (size_t)(e - l->entries), i = hole;
    layer_drop(e->value);
    l->count--;
    for (;;) {
        i = (i + 1) & mask;
        if (!l->entries[i].used) break;
        size_t home = (size_t)key_hash(l, l->entries[i].key) & mask;
        if (((i - home) & mask) < ((i - hole) & mask)) continue;
        l->entries[hole] = l->entries[i];
        hole = i;
    }
    l->entries[hole] = (struct jam_entry){0};
}

static bool layer_note(struct jam_layer *l, const uint8_t *key, const struct jam_entry *e)
{
    if (!ARRAY_RESERVE(l->undo, l->undo_capacity, l->undo_count + 1)) return false;
    struct jam_undo *u = &l->undo[l->undo_count++];
    *u = (struct jam_undo){.used = e && e->used, .value = e ? layer_share(e->value) : NULL};
    memcpy(u->key, key, JAM_KEY);
    return true;
}

/* Puts the value under the key. The layer becomes the owner of one reference to the value. */
static void layer_put(struct jam_layer *l, const uint8_t *key, struct jam_value *value)
{
    struct jam_entry *e = layer_find(l, key);
    bool noted = !l->mark || (e && e->mark == l->mark) || layer_note(l, key, e);
    if (!e && noted && layer_grow(l)) {
        e = layer_place(l, key);
        e->used = true;
        memcpy(e->key, key, JAM_KEY);
        l->count++;
    }
    if (!e || !noted) {
        l->failed = true;
        layer_drop(value);
        return;
    }
    layer_drop(e->value);
    e->value = value;
    e->mark = l->mark;
}

/* Makes a value. Returns NULL when memory ran out, or an interrupt ended the work. */
static struct jam_value *layer_make(penta_bytes name, penta_bytes value, struct long_work *work)
{
    struct jam_value *v = malloc(sizeof *v + name.size + value.size);
    if (!v) return NULL;
    v->refs = 1;
    v->name_size = (uint32_t)name.size;
    v->size = value.size;
    if (long_work_copy(v->bytes, name, work) && long_work_copy(v->bytes + name.size, value, work))
        return v;
    free(v);
    return NULL;
}

/* The functions below read and change values. */

/* Asks the source for the key and keeps its answer, also when the answer is that there is no
 * value. */
static const struct jam_value *layer_ask(struct jam_layer *l, const uint8_t *key)
{
    penta_bytes value = {0};
    struct jam_value *v = NULL;
    if (!l->source.get) return NULL;
    if (l->source.get(l->source.user, key, &value)) {
        v = layer_make((penta_bytes){0}, value, NULL);
        if (!v) l->failed = true;
    }
    layer_put(l, key, v);
    const struct jam_entry *e = layer_find(l, key);
    return e ? e->value : NULL;
}

const struct jam_value *jam_layer_find(struct jam_layer *l, const uint8_t *key)
{
    for (;; l = l->below) {
        const struct jam_entry *e = layer_find(l, key);
        if (e) return e->value;
        if (!l->below) return layer_ask(l, key);
    }
}

bool jam_layer_get(struct jam_layer *l, const uint8_t *key, penta_bytes *value)
{
    const struct jam_value *v = jam_layer_find(l, key);
    *value = v ? jam_value_bytes(v) : (penta_bytes){0};
    return v;
}

bool jam_layer_set_work(struct jam_layer *l, const uint8_t *key, penta_bytes name,
                        penta_bytes value, struct long_work *work)
{
    struct jam_value *v = layer_make(name, value, work);
    if (work && work->ended) return false;
    if (v)
        layer_put(l, key, v);
    else
        l->failed = true;
    return true;
}

void jam_layer_set(struct jam_layer *l, const uint8_t *key, penta_bytes name, penta_bytes value)
{
    jam_layer_set_work(l, key, name, value, NULL);
}

void jam_layer_remove(struct jam_layer *l, const uint8_t *key) { layer_put(l, key, NULL); }

void jam_layer_take(struct jam_layer *to, const struct jam_entry *entry)
{
    layer_put(to, entry->key, layer_share(entry->value));
}

void jam_layer_merge(struct jam_layer *to, const struct jam_layer *from)
{
    to->failed |= from->failed;
    for (size_t i = 0; i < from->capacity; i++)
        if (from->entries[i].used) jam_layer_take(to, &from->entries[i]);
}

void jam_layer_mark(struct jam_layer *l)
{
    forget_undo(l);
    l->mark++;
}

void jam_layer_rollback(struct jam_layer *l)
{
    for (size_t i = l->undo_count; i--;) {
        struct jam_undo *u = &l->undo[i];
        struct jam_entry *e = layer_find(l, u->key);
        if (!u->used) {
            layer_erase(l, e);
            continue;
        }
        layer_drop(e->value);
        e->value = u->value;
        e->mark = l->mark - 1;
    }
    l->undo_count = 0;
}

static int entries_by_key(const void *a, const void *b)
{
    const struct jam_entry *const *x = a, *const *y = b;
    return memcmp((*x)->key, (*y)->key, JAM_KEY);
}

const struct jam_entry **jam_layer_sorted(const struct jam_layer *l, size_t *count)
{
    const struct jam_entry **list = malloc((l->count + 1) * sizeof *list);
    *count = l->count;
    size_t n = 0;
    for (size_t i = 0; list && i < l->capacity; i++)
        if (l->entries[i].used) list[n++] = &l->entries[i];
    if (list) qsort(list, n, sizeof *list, entries_by_key);
    return list;
}
