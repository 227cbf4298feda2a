/* Accounts of services, on top of the state's keys. */
#pragma once
#include "pvm/host/jam/layer.h"

/* of the state that is not an account */
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

struct jam_request { /* the history of a preimage: slots 0 .. 3 of them */
    unsigned count;
    uint32_t slots[3];
};

struct jam_privileges {
    uint32_t manager, delegator, registrar;
    uint32_t *assigners; /* by core */
    size_t cores;
    struct jam_always {
        uint32_t service;
        uint64_t gas;
    } * always; /* by service */
    size_t always_count;
};

bool jam_account_get(struct jam_layer *l, uint32_t id, struct jam_account *out);
void jam_account_set(struct jam_layer *l, uint32_t id, const struct jam_account *account);
bool jam_account_exists(struct jam_layer *l, uint32_t id);
/* The record's bytes as a struct, and back (at least 89 bytes; returns how many). */
bool jam_account_decode(penta_bytes bytes, struct jam_account *out);
size_t jam_account_encode(const struct jam_account *account, bool plain, uint8_t *out);

bool jam_preimage_get(struct jam_layer *l, uint32_t id, const uint8_t *hash, penta_bytes *out);
bool jam_request_get(struct jam_layer *l, uint32_t id, const uint8_t *hash, uint32_t length,
                     struct jam_request *out);
void jam_request_set(struct jam_layer *l, uint32_t id, const uint8_t *hash, uint32_t length,
                     const struct jam_request *request); /* NULL removes it */
bool jam_request_decode(penta_bytes bytes, struct jam_request *out);
/* The preimage was available at that slot. */
bool jam_request_available(const struct jam_request *request, uint32_t slot);
/* Preimage and history as a program asks for a slot of the past. */
bool jam_historical_lookup(struct jam_layer *l, uint32_t id, const uint8_t *hash, uint32_t slot,
                           penta_bytes *out);
/* A preimage that was asked for comes in; false: nobody waits for it. */
bool jam_preimage_supply(struct jam_layer *l, uint32_t id, penta_bytes blob, uint32_t slot);

/* What a key belongs to: false for chapters. record: it is the account's record. */
bool jam_key_service(const uint8_t *key, uint32_t *service, bool *record);
/* The authorizer queue of one core while rounds run, before it goes into its chapter. */
void jam_queue_key(uint32_t core, uint8_t *key);

/* False: no memory, or the bytes are none (then zeros). Absent ones are zeros for so many cores. */
bool jam_privileges_get(struct jam_layer *l, size_t cores, bool registrar,
                        struct jam_privileges *out);
void jam_privileges_set(struct jam_layer *l, bool registrar, const struct jam_privileges *p);
void jam_privileges_free(struct jam_privileges *p);
