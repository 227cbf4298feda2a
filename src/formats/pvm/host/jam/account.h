/* Declares the accounts of services, which are values under keys of the state (JAM 11). */
#pragma once
#include "pvm/host/jam/layer.h"

/* Chapters are the parts of the state that are not accounts. The first byte of a key says which
 * chapter it is. */
enum jam_chapter {
    JAM_QUEUES = 2,
    JAM_ENTROPY = 6,
    JAM_STAGING = 7,
    JAM_SLOT = 11,
    JAM_PRIVILEGES = 12,
    JAM_READY = 14,
    JAM_ACCUMULATED = 15,
    JAM_OUTPUTS = 16,
};

struct jam_account {
    uint8_t code_hash[JAM_HASH];
    uint64_t balance, min_gas, min_memo_gas, octets, gratis;
    uint32_t items, created, last, parent;
};

/* Gives number i of an account, and the name of this number. Returns false after the last one. */
bool jam_account_number(const struct jam_account *account, unsigned i, const char **name,
                        uint64_t *value);

struct jam_request { /* A struct jam_request is the history of a preimage: 0 to 3 slots. */
    unsigned count;
    uint32_t slots[3];
};

struct jam_privileges {
    uint32_t manager, delegator, registrar;
    uint32_t *assigners; /* for each core: the service that assigns its queue */
    size_t cores;
    struct jam_always {
        uint32_t service;
        uint64_t gas;
    } * always; /* the services that run in every block, with their gas, sorted by service */
    size_t always_count;
};

/* Makes the same key as penta_jam_storage_key, unless an interrupt ends the work. */
void jam_storage_key_work(uint32_t service, penta_bytes name, uint8_t *key, struct long_work *work);
bool jam_account_get(struct jam_layer *l, uint32_t id, struct jam_account *out);
void jam_account_set(struct jam_layer *l, uint32_t id, const struct jam_account *account);
bool jam_account_exists(struct jam_layer *l, uint32_t id);
/* jam_account_decode reads an account's record into a struct, and jam_account_encode writes it
 * back. `out` has at least 89 bytes; the result is how many were written. `plain` says that the
 * record has no version byte. */
bool jam_account_decode(penta_bytes bytes, struct jam_account *out);
size_t jam_account_encode(const struct jam_account *account, bool plain, uint8_t *out);

bool jam_preimage_get(struct jam_layer *l, uint32_t id, const uint8_t *hash, penta_bytes *out);
bool jam_request_get(struct jam_layer *l, uint32_t id, const uint8_t *hash, uint32_t length,
                     struct jam_request *out);
/* When `request` is NULL, the request is removed. */
void jam_request_set(struct jam_layer *l, uint32_t id, const uint8_t *hash, uint32_t length,
                     const struct jam_request *request);
bool jam_request_decode(penta_bytes bytes, struct jam_request *out);
/* Finds the preimage with this hash, if it was available at a slot of the past. */
bool jam_historical_lookup(struct jam_layer *l, uint32_t id, const uint8_t *hash, uint32_t slot,
                           penta_bytes *out);
/* Stores a preimage that was requested. Returns false when nobody requested it. */
bool jam_preimage_supply(struct jam_layer *l, uint32_t id, penta_bytes blob, uint32_t slot);

/* Tells to which service a key belongs. Returns false when it belongs to none. *record says
 * whether the key is that of the account's record. */
bool jam_key_service(const uint8_t *key, uint32_t *service, bool *record);
/* Makes the key that the authorizer queue of one core has while a round runs. After the round
 * JAM_QUEUES has the queues of all cores. */
void jam_queue_key(uint32_t core, uint8_t *key);

/* Reads the privileges. When the state has none, they are zeros for so many cores. Returns false
 * when memory ran out or the bytes are malformed; malformed bytes give zeros, too. */
bool jam_privileges_get(struct jam_layer *l, uint64_t cores, bool registrar,
                        struct jam_privileges *out);
void jam_privileges_set(struct jam_layer *l, bool registrar, const struct jam_privileges *p);
void jam_privileges_free(struct jam_privileges *p);
