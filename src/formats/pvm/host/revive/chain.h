/* A chain has accounts, their storage, the code of contracts, and events. A journal holds every
 * change, so that changes can be undone when a call fails.
 *
 * The storage of all accounts is one table. A key in it is the account's address, a byte for the
 * kind of storage, and the contract's key. Transient storage lasts one transaction: its slots
 * carry the transaction's number. */
#pragma once
#include "base/error.h"
#include "pvm/host/revive/table.h"
#include "pvm/host/revive/uint256.h"

enum { ADDRESS = 20, HASH = 32, TOPICS_MAX = 4, CHAIN_BYTES_MAX = 1 << 28 };

/* An enum storage_kind is a kind of storage. A key of exactly 32 bytes and a key with a length
 * are different keys even when their bytes are equal. */
enum storage_kind {
    STORAGE_WORDS,
    STORAGE_SIZED,
    STORAGE_TRANSIENT_WORDS,
    STORAGE_TRANSIENT_SIZED,
};

struct blob {
    uint8_t *data;
    size_t size;
};

struct code; /* The struct is declared in revive.h. */

/* A struct account_state is the part of an account that the journal keeps. */
struct account_state {
    struct u256 balance;
    uint64_t nonce;
    uint64_t created; /* the number of the transaction that created the account */
    /* `code` is the account's code, or NULL when it has none, or its constructor still runs. */
    struct code *code;
    bool contract; /* The account is a contract, also while its constructor runs. */
    bool doomed;   /* The account is removed at the end of the transaction. */
};

struct account {
    struct table_entry entry; /* The key of the entry is the account's address. */
    struct account_state is;
    struct blob immutable;
    bool counted; /* The balance was given; without a balance a sender always has what it sends. */
};

struct slot {
    struct table_entry entry;
    struct blob value;
    bool present;
    uint64_t transaction;
};

struct event {
    uint8_t address[ADDRESS];
    struct blob topics, data;
};

struct chain {
    struct table accounts, slots;
    struct event *events; /* the events of this transaction */
    size_t event_count, event_capacity;
    struct change *changes;
    size_t change_count, change_capacity;
    uint64_t transaction; /* the number of the present transaction; the first is 1 */
    size_t bytes;         /* how many bytes are kept for contracts, at most CHAIN_BYTES_MAX */
    penta_error failure;  /* why a change failed (memory, or the limit), or code 0 */
};

bool revive_blob_set(struct blob *b, const void *data, size_t size);
void revive_chain_free(struct chain *c);

/* Finds an account. Returns NULL when there is no such account. */
struct account *revive_chain_find(const struct chain *c, const uint8_t address[ADDRESS]);
/* Returns the account, and makes it when there is none. Returns NULL when that fails; c->failure
 * says why. */
struct account *revive_chain_account(struct chain *c, const uint8_t address[ADDRESS]);
bool revive_account_exists(const struct account *a); /* a may be NULL. */
static inline const uint8_t *revive_account_address(const struct account *a)
{
    return a->entry.key;
}
/* Writes the account to the journal. It is called before a change of a->is. */
bool revive_chain_touch(struct chain *c, struct account *a);
bool revive_chain_set_immutable(struct chain *c, struct account *a, const void *data, size_t size);
/* Moves a value between accounts. *moved says whether the balance was large enough. Returns
 * false when c->failure is set. */
bool revive_chain_transfer(struct chain *c, struct account *from, struct account *to,
                           const struct u256 *value, bool *moved);

/* Finds the slot of a key. Returns NULL when there is no value. */
const struct slot *revive_chain_load(const struct chain *c, const uint8_t address[ADDRESS],
                                     enum storage_kind kind, const struct blob *key);
/* Stores a value. A value of NULL removes the slot. */
bool revive_chain_store(struct chain *c, const uint8_t address[ADDRESS], enum storage_kind kind,
                        const struct blob *key, const struct blob *value);
/* Adds an event. The chain becomes the owner of both blobs. */
bool revive_chain_event(struct chain *c, const uint8_t address[ADDRESS], struct blob topics,
                        struct blob data);

static inline size_t revive_chain_mark(const struct chain *c) { return c->change_count; }
void revive_chain_undo(struct chain *c, size_t mark); /* Undoes everything since the mark. */
/* Begins a transaction: there are no events, no transient storage, and nothing to undo. */
void revive_chain_begin(struct chain *c);
/* Ends a transaction. Its changes stay. */
bool revive_chain_commit(struct chain *c);
