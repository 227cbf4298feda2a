/* Answers the host calls for the storage of the executing account (CONTRACT 6.3). The storage is
 * permanent, or, with flag 1, lasts for this transaction. */
#include <stdlib.h>
#include <string.h>
#include "pvm/host/revive/calls.h"

struct place {
    const uint8_t *address;
    enum storage_kind kind;
    struct blob key; /* the key, which the caller frees */
};

static bool fetch_place(const struct request *q, uint64_t flags, uint64_t key, uint64_t key_size,
                        struct place *out)
{
    bool word = (uint32_t)key_size == NOTHING, transient = (uint32_t)flags & 1;
    uint32_t size = word ? HASH : (uint32_t)key_size;
    if ((uint32_t)flags > 1 || size > KEY_BYTES_MAX) return false;
    out->address = revive_account_address(q->frame->account);
    out->kind = transient ? (word ? STORAGE_TRANSIENT_WORDS : STORAGE_TRANSIENT_SIZED)
                          : (word ? STORAGE_WORDS : STORAGE_SIZED);
    return revive_fetch(q, key, size, &out->key);
}

static const struct slot *calls_storage_load(const struct request *q, const struct place *p)
{
    return revive_chain_load(&q->r->chain, p->address, p->kind, &p->key);
}

/* Stores the value, or, when `value` is NULL, removes it. The result of the call is the length
 * of the old value. */
static bool calls_storage_store(const struct request *q, const struct place *p,
                                const struct blob *value)
{
    const struct slot *old = calls_storage_load(q, p);
    uint64_t length = old ? old->value.size : NOTHING;
    return revive_chain_store(&q->r->chain, p->address, p->kind, &p->key, value) &&
           revive_result(q, length);
}

static bool calls_storage_set(const struct request *q, uint64_t key_size, uint64_t value_at,
                              uint32_t value_size, bool clears)
{
    struct place place;
    struct blob value;
    if (q->frame->read_only || value_size > VALUE_BYTES_MAX) return false;
    if (!fetch_place(q, q->a[0], q->a[1], key_size, &place)) return false;
    bool ok = revive_fetch(q, value_at, value_size, &value);
    for (size_t i = 0; ok && clears && i < value.size; i++) clears = !value.data[i];
    ok = ok && calls_storage_store(q, &place, clears ? NULL : &value);
    free(place.key.data);
    free(value.data);
    return ok;
}

bool revive_call_set_storage(const struct request *q)
{
    return calls_storage_set(q, q->a[2], q->a[3], (uint32_t)q->a[4], false);
}
bool revive_call_set_storage_or_clear(const struct request *q)
{
    return calls_storage_set(q, NOTHING, q->a[2], HASH, true);
}

bool revive_call_clear_storage(const struct request *q)
{
    struct place place;
    if (q->frame->read_only || !fetch_place(q, q->a[0], q->a[1], q->a[2], &place)) return false;
    bool ok = calls_storage_store(q, &place, NULL);
    free(place.key.data);
    return ok;
}

bool revive_call_contains_storage(const struct request *q)
{
    struct place place;
    if (!fetch_place(q, q->a[0], q->a[1], q->a[2], &place)) return false;
    const struct slot *slot = calls_storage_load(q, &place);
    free(place.key.data);
    return revive_result(q, slot ? slot->value.size : NOTHING);
}

static bool calls_storage_get(const struct request *q, bool takes)
{
    struct place place;
    if (takes && q->frame->read_only) return false;
    if (!fetch_place(q, q->a[0], q->a[1], q->a[2], &place)) return false;
    const struct slot *slot = calls_storage_load(q, &place);
    bool ok = !slot || revive_give_sized(q, q->a[3], q->a[4], slot->value.data, slot->value.size);
    if (ok && slot && takes) ok = calls_storage_store(q, &place, NULL);
    free(place.key.data);
    return ok && revive_result(q, slot ? RESULT_SUCCESS : RESULT_KEY_NOT_FOUND);
}

bool revive_call_get_storage(const struct request *q) { return calls_storage_get(q, false); }
bool revive_call_take_storage(const struct request *q) { return calls_storage_get(q, true); }

bool revive_call_get_storage_or_zero(const struct request *q)
{
    struct place place;
    uint8_t word[WORD] = {0};
    if (!fetch_place(q, q->a[0], q->a[1], NOTHING, &place)) return false;
    const struct slot *slot = calls_storage_load(q, &place);
    free(place.key.data);
    if (slot && slot->value.size)
        memcpy(word, slot->value.data, slot->value.size < WORD ? slot->value.size : WORD);
    return revive_give(q, q->a[2], word, WORD);
}
