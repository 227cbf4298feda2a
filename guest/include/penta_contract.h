/* Declares the host calls of contracts (docs/formats/pvm/contracts.md, `--host revive`). A
 * contract exports `deploy`, its constructor, and `call`; both end with contract_return.
 *
 * A number is 32 bytes, the lowest first. An address is 20 bytes. Keys, hashes and topics are 32
 * bytes. Where a call takes a pointer to a size, that has the size of the buffer before the call
 * and the number of bytes written after it; longer data are cut off. A host call that is refused
 * ends the contract. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include "penta_guest.h"

/* clang-format off */
enum { CONTRACT_SUCCESS, CONTRACT_REVERT };       /* flags of contract_return */
enum { CONTRACT_PERSISTENT, CONTRACT_TRANSIENT }; /* flags of storage */
enum {                                            /* the results of calls, besides
                                                   * CONTRACT_SUCCESS */
    CONTRACT_TRAPPED = 1,
    CONTRACT_REVERTED = 2,
    CONTRACT_KEY_NOT_FOUND = 3,
    CONTRACT_TRANSFER_FAILED = 4,
    CONTRACT_OUT_OF_GAS = 5,
    CONTRACT_ADDRESS_TAKEN = 11,
};
enum {                                            /* the flags of calls of other contracts */
    CONTRACT_FORWARD_INPUT = 1,                   /* passes this contract's input on, and this
                                                   * contract loses it */
    CONTRACT_CLONE_INPUT = 2,                     /* passes a copy of this contract's input */
    CONTRACT_TAIL_CALL = 4,                       /* ends this contract, too, when the called
                                                   * contract ends */
    CONTRACT_REENTRY = 8,                         /* lets the called contract call this contract
                                                   * again */
    CONTRACT_READ_ONLY = 16,                      /* makes a static call, which cannot change
                                                   * anything */
};
/* clang-format on */
#define CONTRACT_KEY_32 UINT32_MAX   /* the length of a key of 32 bytes */
#define CONTRACT_NO_VALUE UINT32_MAX /* the result of storing where nothing was stored before */
#define CONTRACT_ALL_GAS UINT64_MAX

PENTA_IMPORT_AS(void, contract_address, address, uint8_t *);
PENTA_IMPORT_AS(void, contract_caller, caller, uint8_t *);
PENTA_IMPORT_AS(void, contract_origin, origin, uint8_t *);
PENTA_IMPORT_AS(uint64_t, contract_caller_is_origin, caller_is_origin);
PENTA_IMPORT_AS(void, contract_value, value_transferred, uint8_t *);
PENTA_IMPORT_AS(void, contract_balance, balance, uint8_t *);
PENTA_IMPORT_AS(void, contract_balance_of, balance_of, const uint8_t *, uint8_t *);
PENTA_IMPORT_AS(void, contract_minimum_balance, minimum_balance, uint8_t *);
PENTA_IMPORT_AS(void, contract_now, now, uint8_t *);
PENTA_IMPORT_AS(void, contract_block_number, block_number, uint8_t *);
PENTA_IMPORT_AS(void, contract_block_hash, block_hash, const uint8_t *, uint8_t *);
PENTA_IMPORT_AS(void, contract_block_author, block_author, uint8_t *);
PENTA_IMPORT_AS(void, contract_chain_id, chain_id, uint8_t *);
PENTA_IMPORT_AS(void, contract_base_fee, base_fee, uint8_t *);
PENTA_IMPORT_AS(uint64_t, contract_gas_price, gas_price);
PENTA_IMPORT_AS(uint64_t, contract_gas_limit, gas_limit);
PENTA_IMPORT_AS(uint64_t, contract_gas_left, ref_time_left);
PENTA_IMPORT_AS(uint64_t, contract_is_contract, is_contract, const uint8_t *);
PENTA_IMPORT_AS(uint64_t, contract_code_size, code_size, const uint8_t *);
PENTA_IMPORT_AS(void, contract_code_hash, code_hash, const uint8_t *, uint8_t *);
PENTA_IMPORT_AS(void, contract_own_code_hash, own_code_hash, uint8_t *);
PENTA_IMPORT_AS(void, contract_account_id, to_account_id, const uint8_t *, uint8_t *);

PENTA_IMPORT_AS(uint64_t, contract_input_size, call_data_size);
/* The arguments are to, size, offset. Bytes after the end of the input are zeros. */
PENTA_IMPORT_AS(void, contract_input, call_data_copy, void *, uint32_t, uint32_t);
/* The arguments are to, offset. The 32 bytes at the offset are reversed, because Solidity's
 * numbers have the highest byte first. */
PENTA_IMPORT_AS(void, contract_input_word, call_data_load, uint8_t *, uint32_t);
/* The arguments are flags, data, size. This call does not return. */
PENTA_IMPORT_AS(void, contract_return, seal_return, uint32_t, const void *, uint32_t);
/* Returns the size of what the last call of another contract returned. */
PENTA_IMPORT_AS(uint64_t, contract_returned_size, return_data_size);
/* The arguments are to, size, offset. */
PENTA_IMPORT_AS(void, contract_returned, return_data_copy, void *, uint32_t *, uint32_t);
/* The arguments are topics, their count, data, size of the data. */
PENTA_IMPORT_AS(void, contract_event, deposit_event, const void *, uint32_t, const void *,
                uint32_t);
PENTA_IMPORT_AS(void, contract_keccak, hash_keccak_256, const void *, uint32_t, uint8_t *);
/* These calls set and read data that `deploy` may set once and `call` may read. */
PENTA_IMPORT_AS(void, contract_set_immutable, set_immutable_data, const void *, uint32_t);
PENTA_IMPORT_AS(void, contract_immutable, get_immutable_data, void *, uint32_t *);
/* Sends the balance to this address and ends the call. The contract is removed if this
 * transaction made it. */
PENTA_IMPORT_AS(void, contract_terminate, terminate, const uint8_t *);
/* Uses all gas and ends the contract with a revert. */
PENTA_IMPORT_AS(void, contract_consume_gas, consume_all_gas);

/* These calls return the size of the value before, or CONTRACT_NO_VALUE. */
PENTA_IMPORT_AS(uint64_t, contract_store, set_storage, uint32_t, const uint8_t *, uint32_t,
                const void *, uint32_t);
PENTA_IMPORT_AS(uint64_t, contract_clear, clear_storage, uint32_t, const uint8_t *, uint32_t);
PENTA_IMPORT_AS(uint64_t, contract_contains, contains_storage, uint32_t, const uint8_t *, uint32_t);
/* These calls return CONTRACT_SUCCESS or CONTRACT_KEY_NOT_FOUND. contract_take also removes the
 * value. */
PENTA_IMPORT_AS(uint64_t, contract_load, get_storage, uint32_t, const uint8_t *, uint32_t, void *,
                uint32_t *);
PENTA_IMPORT_AS(uint64_t, contract_take, take_storage, uint32_t, const uint8_t *, uint32_t, void *,
                uint32_t *);
/* These calls have keys and values of 32 bytes. Storing a value of zeros removes the value. */
PENTA_IMPORT_AS(uint64_t, contract_store_word, set_storage_or_clear, uint32_t, const uint8_t *,
                const void *);
PENTA_IMPORT_AS(void, contract_load_word, get_storage_or_zero, uint32_t, const uint8_t *, void *);

PENTA_IMPORT_AS(uint64_t, contract_host_call, call, uint64_t, uint64_t, uint64_t, uint64_t,
                uint64_t, uint64_t);
PENTA_IMPORT_AS(uint64_t, contract_host_call_evm, call_evm, uint64_t, const uint8_t *,
                const uint8_t *, uint64_t, uint64_t, uint64_t);
PENTA_IMPORT_AS(uint64_t, contract_host_delegate_call, delegate_call, uint64_t, uint64_t, uint64_t,
                const uint8_t *, uint64_t, uint64_t);
PENTA_IMPORT_AS(uint64_t, contract_host_delegate_call_evm, delegate_call_evm, uint64_t,
                const uint8_t *, uint64_t, uint64_t, uint64_t);
PENTA_IMPORT_AS(uint64_t, contract_host_instantiate, instantiate, uint64_t, uint64_t, uint64_t,
                uint64_t, uint64_t, uint64_t);

/* The host takes two 32-bit values in one register. */
static inline uint64_t contract_pair_(const void *low, uint64_t high)
{
    return high << 32 | (uint32_t)(uintptr_t)low;
}

/* Tells the host where the returned data go. When output is NULL they are not written, but
 * contract_returned still has them. */
static inline uint64_t contract_output_(void *output, uint32_t *size)
{
    return output ? contract_pair_(output, (uintptr_t)size) : UINT64_MAX;
}

static const uint8_t contract_no_limit_[32] = {
    255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
    255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255};
static const uint8_t contract_zero_[32] = {0};

/* Calls a contract with all gas that is left. With value NULL no value is sent. With output
 * NULL, output_size may be NULL, too. */
static inline uint64_t contract_call(uint32_t flags, const uint8_t *to, const uint8_t *value,
                                     const void *input, uint32_t input_size, void *output,
                                     uint32_t *output_size)
{
    return contract_host_call(
        contract_pair_(to, flags), UINT64_MAX, UINT64_MAX,
        contract_pair_(value ? value : contract_zero_, (uintptr_t)contract_no_limit_),
        contract_pair_(input, input_size), contract_output_(output, output_size));
}

/* Calls a contract with at most this gas. */
static inline uint64_t contract_call_gas(uint64_t gas, uint32_t flags, const uint8_t *to,
                                         const uint8_t *value, const void *input,
                                         uint32_t input_size, void *output, uint32_t *output_size)
{
    return contract_host_call_evm(flags, to, value ? value : contract_zero_, gas,
                                  contract_pair_(input, input_size),
                                  contract_output_(output, output_size));
}

/* Runs the code of another contract with the storage, caller and value of this one. */
static inline uint64_t contract_delegate(uint32_t flags, const uint8_t *to, const void *input,
                                         uint32_t input_size, void *output, uint32_t *output_size)
{
    return contract_host_delegate_call(contract_pair_(to, flags), UINT64_MAX, UINT64_MAX,
                                       contract_no_limit_, contract_pair_(input, input_size),
                                       contract_output_(output, output_size));
}

static inline uint64_t contract_delegate_gas(uint64_t gas, uint32_t flags, const uint8_t *to,
                                             const void *input, uint32_t input_size, void *output,
                                             uint32_t *output_size)
{
    return contract_host_delegate_call_evm(flags, to, gas, contract_pair_(input, input_size),
                                           contract_output_(output, output_size));
}

/* Makes a contract. `code` is the hash of its program, followed by the input of its constructor.
 * The address depends on the salt (32 bytes), or on the creator's nonce if the salt is NULL. It
 * is written only on success. */
static inline uint64_t contract_create(const void *code, uint32_t size, const uint8_t *value,
                                       const uint8_t *salt, uint8_t *address, void *output,
                                       uint32_t *output_size)
{
    return contract_host_instantiate(
        UINT64_MAX, UINT64_MAX,
        contract_pair_(value ? value : contract_zero_, (uintptr_t)contract_no_limit_),
        contract_pair_(code, size), contract_output_(output, output_size),
        contract_pair_(salt ? (const void *)salt : (const void *)UINTPTR_MAX, (uintptr_t)address));
}
