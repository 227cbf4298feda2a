/* The host calls of contracts (docs/formats/pvm-machine.md, `--host revive`). A contract exports
 * `deploy`, its constructor, and `call`; both end with contract_return. Numbers of 256 bits are
 * 32 bytes with the lowest first, addresses 20 bytes, keys, hashes and topics 32 bytes as they are. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include "penta_guest.h"

enum { CONTRACT_SUCCESS, CONTRACT_REVERT };       /* flags of contract_return */
enum { CONTRACT_PERSISTENT, CONTRACT_TRANSIENT }; /* flags of storage */
enum { CONTRACT_KEY_NOT_FOUND = 3 };
#define CONTRACT_KEY_32 UINT32_MAX /* length of a key of 32 bytes */

PENTA_IMPORT_AS(void, contract_address, address, uint8_t *);
PENTA_IMPORT_AS(void, contract_caller, caller, uint8_t *);
PENTA_IMPORT_AS(void, contract_value, value_transferred, uint8_t *);
PENTA_IMPORT_AS(void, contract_balance, balance, uint8_t *);
PENTA_IMPORT_AS(void, contract_now, now, uint8_t *);
PENTA_IMPORT_AS(void, contract_block_number, block_number, uint8_t *);
PENTA_IMPORT_AS(uint64_t, contract_input_size, call_data_size);
PENTA_IMPORT_AS(void, contract_input, call_data_copy, void *, uint32_t, uint32_t);
PENTA_IMPORT_AS(void, contract_keccak, hash_keccak_256, const void *, uint32_t, uint8_t *);
PENTA_IMPORT_AS(void, contract_event, deposit_event, const void *, uint32_t, const void *,
                uint32_t);
PENTA_IMPORT_AS(void, contract_return, seal_return, uint32_t, const void *, uint32_t);
PENTA_IMPORT_AS(uint64_t, contract_store, set_storage, uint32_t, const uint8_t *, uint32_t,
                const void *, uint32_t);
PENTA_IMPORT_AS(uint64_t, contract_load, get_storage, uint32_t, const uint8_t *, uint32_t, void *,
                uint32_t *);
