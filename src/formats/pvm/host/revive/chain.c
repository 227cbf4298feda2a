/* Keeps the chain in memory (chain.h): accounts and storage in hash tables, events in a list,
 * and a journal that notes the old value before each change, so that changes can be undone. */
#include "pvm/host/revive/chain.h"
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/bytes.h"

enum change_kind { CHANGE_ACCOUNT, CHANGE_IMMUTABLE, CHANGE_SLOT, CHANGE_EVENT };

struct change {
    enum change_kind kind;
    bool present;
    union {
        struct account *account;
        struct slot *slot;
    } of;
    union {
        struct account_state state;
        struct {
            struct blob value;
            uint64_t transaction;
        } slot;
    } old;
};

bool revive_blob_set(struct blob *b, const void *data, size_t size)
{
    uint8_t *copy = malloc(size + 1);
    if (!copy) return false;
    if (size) memcpy(copy, data, size);
    free(b->data);
    *b = (struct blob){copy, size};
    return true;
}

static bool chain_no_memory(struct chain *c)
{
    return error_at(&c->failure, BASE_MEMORY, 0, "no memory for the chain");
}

/* Counts the bytes that the chain keeps for contracts. They are limited, because contracts
 * decide how many these are. */
static bool chain_charge(struct chain *c, size_t bytes)
{
    if (bytes > CHAIN_BYTES_MAX - c->bytes)
        return error_at(&c->failure, BASE_LIMIT, 0, "the chain keeps more than %d MiB",
                        CHAIN_BYTES_MAX >> 20);
    c->bytes += bytes;
    return true;
}

static struct change *add_change(struct chain *c, enum change_kind kind)
{
    if (!chain_charge(c, sizeof(struct change))) return NULL;
    if (!ARRAY_RESERVE(c->changes, c->change_capacity, c->change_count + 1)) {
        chain_no_memory(c);
        return NULL;
    }
    struct change *change = &c->changes[c->change_count++];
    *change = (struct change){.kind = kind};
    return change;
}

struct account *revive_chain_find(const struct chain *c, const uint8_t address[ADDRESS])
{
    return revive_table_find(&c->accounts, address, ADDRESS);
}

struct account *revive_chain_account(struct chain *c, const uint8_t address[ADDRESS])
{
    struct account *a = revive_chain_find(c, address);
    if (a || !chain_charge(c, sizeof *a)) return a;
    a = revive_table_add(&c->accounts, address, ADDRESS, sizeof *a);
    if (!a) chain_no_memory(c);
    return a;
}

bool revive_account_exists(const struct account *a)
{
    return a && (a->is.contract || a->is.nonce || !revive_u256_is_zero(&a->is.balance));
}

bool revive_chain_touch(struct chain *c, struct account *a)
{
    struct change *change = add_change(c, CHANGE_ACCOUNT);
    if (!change) return false;
    change->of.account = a;
    change->old.state = a->is;
    return true;
}

bool revive_chain_set_immutable(struct chain *c, struct account *a, const void *data, size_t size)
{
    struct change *change = chain_charge(c, size) ? add_change(c, CHANGE_IMMUTABLE) : NULL;
    if (!change) return false;
    change->of.account = a;
    change->old.slot.value = a->immutable;
    a->immutable = (struct blob){0};
    return revive_blob_set(&a->immutable, data, size) || chain_no_memory(c);
}

bool revive_chain_transfer(struct chain *c, struct account *from, struct account *to,
                           const struct u256 *value, bool *moved)
{
    bool carry = false;
    *moved = revive_u256_compare(&from->is.balance, value) >= 0;
    if (!*moved || from == to || revive_u256_is_zero(value)) return true;
    struct u256 sum = revive_u256_add(&to->is.balance, value, &carry);
    *moved = !carry;
    if (carry) return true;
    if (!revive_chain_touch(c, from) || !revive_chain_touch(c, to)) return false;
    from->is.balance = revive_u256_subtract(&from->is.balance, value);
    to->is.balance = sum;
    return true;
}

enum { KEY_MAX = ADDRESS + 1 + 128 };

static size_t slot_key(uint8_t *into, const uint8_t *address, enum storage_kind kind,
                       const struct blob *key)
{
    memcpy(into, address, ADDRESS);
    into[ADDRESS] = (uint8_t)kind;
    bytes_copy(into + ADDRESS + 1, (penta_bytes){key->data, key->size});
    return ADDRESS + 1 + key->size;
}

static bool storage_is_transient(enum storage_kind kind) { return kind >= STORAGE_TRANSIENT_WORDS; }

static bool slot_is_present(const struct chain *c, const struct slot *s)
{
    bool transient = storage_is_transient((enum storage_kind)s->entry.key[ADDRESS]);
    return s->present && (!transient || s->transaction == c->transaction);
}

const struct slot *revive_chain_load(const struct chain *c, const uint8_t address[ADDRESS],
                                     enum storage_kind kind, const struct blob *key)
{
    uint8_t whole[KEY_MAX];
    const struct slot *s = revive_table_find(&c->slots, whole, slot_key(whole, address, kind, key));
    return s && slot_is_present(c, s) ? s : NULL;
}

static bool change_slot(struct chain *c, struct slot *s, const struct blob *value)
{
    struct change *change =
        chain_charge(c, value ? value->size : 0) ? add_change(c, CHANGE_SLOT) : NULL;
    if (!change) return false;
    change->of.slot = s;
    change->present = s->present;
    change->old.slot.value = s->value;
    change->old.slot.transaction = s->transaction;
    s->value = (struct blob){0};
    s->present = value != NULL;
    s->transaction = c->transaction;
    return !value || revive_blob_set(&s->value, value->data, value->size) || chain_no_memory(c);
}

bool revive_chain_store(struct chain *c, const uint8_t address[ADDRESS], enum storage_kind kind,
                        const struct blob *key, const struct blob *value)
{
    uint8_t whole[KEY_MAX];
    size_t size = slot_key(whole, address, kind, key);
    struct slot *s = revive_table_find(&c->slots, whole, size);
    if (!s && !value) return true;
    if (!s) {
        if (!chain_charge(c, sizeof *s + size)) return false;
        s = revive_table_add(&c->slots, whole, size, sizeof *s);
        if (!s) return chain_no_memory(c);
    }
    return change_slot(c, s, value);
}

static void drop_event(struct chain *c)
{
    struct event *e = &c->events[--c->event_count];
    free(e->topics.data);
    free(e->data.data);
}

bool revive_chain_event(struct chain *c, const uint8_t address[ADDRESS], struct blob topics,
                        struct blob data)
{
    bool ok = chain_charge(c, sizeof(struct event) + topics.size + data.size);
    if (ok && c->event_count == c->event_capacity) {
        size_t capacity = 2 * c->event_capacity + 16;
        struct event *more = realloc(c->events, capacity * sizeof *more);
        if (more) {
            c->events = more;
            c->event_capacity = capacity;
        }
        ok = more || chain_no_memory(c);
    }
    if (!ok || !add_change(c, CHANGE_EVENT)) {
        free(topics.data);
        free(data.data);
        return false;
    }
    struct event *e = &c->events[c->event_count++];
    memcpy(e->address, address, ADDRESS);
    e->topics = topics;
    e->data = data;
    return true;
}

static void chain_undo(struct chain *c, struct change *change)
{
    struct slot *s = change->of.slot;
    switch (change->kind) {
    case CHANGE_ACCOUNT: change->of.account->is = change->old.state; break;
    case CHANGE_IMMUTABLE:
        free(change->of.account->immutable.data);
        change->of.account->immutable = change->old.slot.value;
        break;
    case CHANGE_SLOT:
        free(s->value.data);
        s->value = change->old.slot.value;
        s->present = change->present;
        s->transaction = change->old.slot.transaction;
        break;
    case CHANGE_EVENT: drop_event(c); break;
    }
}

void revive_chain_undo(struct chain *c, size_t mark)
{
    while (c->change_count > mark) chain_undo(c, &c->changes[--c->change_count]);
}

/* Empties the journal. The changes so far can then no longer be undone. */
static void chain_forget(struct chain *c)
{
    for (size_t i = 0; i < c->change_count; i++) {
        const struct change *change = &c->changes[i];
        if (change->kind == CHANGE_SLOT || change->kind == CHANGE_IMMUTABLE)
            free(change->old.slot.value.data);
    }
    c->change_count = 0;
}

void revive_chain_begin(struct chain *c)
{
    chain_forget(c);
    while (c->event_count) drop_event(c);
    c->transaction++;
    c->bytes = 0;
    for (size_t i = 0; i < c->slots.capacity; i++)
        for (struct table_entry *e = c->slots.buckets[i]; e; e = e->next)
            c->bytes += sizeof(struct slot) + e->key_size + ((struct slot *)e)->value.size;
    c->bytes += c->accounts.count * sizeof(struct account);
}

/* Removes everything of the account except its balance. */
static bool remove_contract(struct chain *c, struct account *a)
{
    struct u256 balance = a->is.balance;
    a->is = (struct account_state){.balance = balance};
    for (size_t i = 0; i < c->slots.capacity; i++)
        for (struct table_entry *e = c->slots.buckets[i]; e; e = e->next)
            if (!memcmp(e->key, a->entry.key, ADDRESS) && !change_slot(c, (struct slot *)e, NULL))
                return false;
    return revive_blob_set(&a->immutable, NULL, 0) || chain_no_memory(c);
}

bool revive_chain_commit(struct chain *c)
{
    bool ok = true;
    for (size_t i = 0; ok && i < c->accounts.capacity; i++)
        for (struct table_entry *e = c->accounts.buckets[i]; ok && e; e = e->next)
            if (((struct account *)e)->is.doomed) ok = remove_contract(c, (struct account *)e);
    chain_forget(c);
    return ok;
}

static void account_fini(void *record) { free(((struct account *)record)->immutable.data); }
static void slot_fini(void *record) { free(((struct slot *)record)->value.data); }

void revive_chain_free(struct chain *c)
{
    chain_forget(c);
    while (c->event_count) drop_event(c);
    revive_table_free(&c->accounts, account_fini);
    revive_table_free(&c->slots, slot_fini);
    free(c->events);
    free(c->changes);
}
