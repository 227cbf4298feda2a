/* Is a contract that makes the host call that its input names, to test every call of
 * penta_contract.h. The input is a letter, 20 bytes of an address, and input for another contract.
 *
 *     c e s d D   call, with gas, static, delegate, delegate with gas   code, 4 bytes size, what came back
 *     n N         new contract, with a salt                             code, 20 bytes address, what came back
 *     w           who and when: all that has no other way out
 *     i           immutable data, and the storage of words
 *     t           terminate; g: consume all gas */
#include <penta_contract.h>
#include <stdbool.h>
#include <string.h>

static uint8_t input[4096], answer[4096], direct[4096];

static __attribute__((noreturn)) void end(uint32_t size)
{
    contract_return(CONTRACT_SUCCESS, answer, size);
    penta_trap();
}

static void caller_require(bool condition)
{
    if (!condition) penta_trap();
}

/* Ends with the code, and with what came back in both ways: by the call itself and by
 * contract_returned. */
static __attribute__((noreturn)) void end_call(uint64_t code, uint32_t direct_size)
{
    uint32_t size = (uint32_t)contract_returned_size(), copied = sizeof answer - 5;
    contract_returned(answer + 5, &copied, 0);
    caller_require(copied == size);
    if (code == CONTRACT_SUCCESS || code == CONTRACT_REVERTED)
        caller_require(direct_size == size && !memcmp(direct, answer + 5, size));
    if (size) { /* The second copy starts in the middle and is cut off. */
        uint32_t one = 1;
        contract_returned(direct, &one, size - 1);
        caller_require(one == 1 && direct[0] == answer[5 + size - 1]);
    }
    answer[0] = (uint8_t)code;
    memcpy(answer + 1, &size, 4);
    end(5 + size);
}

static void create_contract(uint8_t what, const uint8_t *code, uint32_t size)
{
    uint8_t value[32], salt[32] = {7}, address[20] = {0};
    uint32_t capacity = sizeof direct;
    contract_value(value);
    uint64_t result =
        contract_create(code, size, value, what == 'N' ? salt : NULL, address, direct, &capacity);
    answer[0] = (uint8_t)result;
    memcpy(answer + 1, address, 20);
    uint32_t copied = sizeof answer - 21;
    contract_returned(answer + 21, &copied, 0);
    if (result == CONTRACT_SUCCESS)
        caller_require(contract_is_contract(address) && contract_code_size(address));
    end(21 + copied);
}

static void answer_who(const uint8_t *other)
{
    uint8_t *at = answer, number[32];
    contract_address(at);
    contract_caller(at + 20);
    contract_origin(at + 40);
    contract_block_author(at + 60);
    at += 80;
    contract_value(at);
    contract_balance(at + 32);
    contract_balance_of(other, at + 64);
    contract_now(at + 96);
    contract_block_number(at + 128);
    contract_chain_id(at + 160);
    contract_base_fee(at + 192);
    contract_minimum_balance(at + 224);
    at += 256;
    contract_own_code_hash(at);
    contract_code_hash(other, at + 32);
    contract_account_id(other, at + 64);
    contract_block_number(number);
    number[0]--;
    contract_block_hash(number, at + 96);
    contract_input_word(at + 128, 1);
    at += 160;
    uint64_t rest[] = {contract_caller_is_origin(), contract_is_contract(other),
                       contract_code_size(other),   contract_gas_price(),
                       contract_gas_limit(),        contract_gas_left() != 0};
    memcpy(at, rest, sizeof rest);
    end((uint32_t)(at - answer) + sizeof rest);
}

static void answer_storage(void)
{
    uint8_t key[32] = {1}, word[32] = {2}, value[32], zero[32] = {0};
    uint32_t size = sizeof answer;
    contract_immutable(answer, &size);
    caller_require(contract_store_word(CONTRACT_PERSISTENT, key, word) == CONTRACT_NO_VALUE);
    contract_load_word(CONTRACT_PERSISTENT, key, value);
    caller_require(!memcmp(value, word, 32));
    contract_load_word(CONTRACT_TRANSIENT, key, value);
    caller_require(!memcmp(value, zero, 32));
    caller_require(contract_contains(CONTRACT_PERSISTENT, key, CONTRACT_KEY_32) == 32);
    caller_require(contract_store_word(CONTRACT_PERSISTENT, key, zero) == 32);
    caller_require(contract_contains(CONTRACT_PERSISTENT, key, CONTRACT_KEY_32) ==
                   CONTRACT_NO_VALUE);
    caller_require(contract_store(CONTRACT_PERSISTENT, (const uint8_t *)"name", 4, "Ada", 3) ==
                   CONTRACT_NO_VALUE);
    caller_require(contract_clear(CONTRACT_PERSISTENT, (const uint8_t *)"name", 4) == 3);
    caller_require(contract_store(CONTRACT_TRANSIENT, (const uint8_t *)"name", 4, "Eve", 3) ==
                   CONTRACT_NO_VALUE);
    uint32_t capacity = 2;
    caller_require(contract_take(CONTRACT_TRANSIENT, (const uint8_t *)"name", 4, value,
                                 &capacity) == CONTRACT_SUCCESS &&
                   capacity == 2);
    caller_require(contract_load(CONTRACT_TRANSIENT, (const uint8_t *)"name", 4, value,
                                 &capacity) == CONTRACT_KEY_NOT_FOUND);
    caller_require(!memcmp(value, "Ev", 2));
    end(size);
}

void deploy(void)
{
    contract_set_immutable("forever", 7);
    contract_return(CONTRACT_SUCCESS, NULL, 0);
}
PENTA_EXPORT(deploy, 0);

void call(void)
{
    uint32_t size = (uint32_t)contract_input_size(), capacity = sizeof direct;
    uint8_t value[32], *to = input + 1, *data = input + 21;
    caller_require(size >= 21 && size <= sizeof input);
    contract_input(input, size, 0);
    size -= 21;
    contract_value(value);
    switch (input[0]) {
    case 'c':
        end_call(contract_call(CONTRACT_REENTRY, to, value, data, size, direct, &capacity),
                 capacity);
    case 'e':
        end_call(contract_call_gas(CONTRACT_ALL_GAS, 0, to, NULL, data, size, direct, &capacity),
                 capacity);
    case 's':
        end_call(contract_call(CONTRACT_READ_ONLY, to, NULL, data, size, direct, &capacity),
                 capacity);
    case 'd': end_call(contract_delegate(0, to, data, size, direct, &capacity), capacity);
    case 'D':
        end_call(contract_delegate_gas(CONTRACT_ALL_GAS, 0, to, data, size, direct, &capacity),
                 capacity);
    case 'n':
    case 'N': create_contract(input[0], data, size); break;
    case 'w': answer_who(to); break;
    case 'i': answer_storage(); break;
    case 't': contract_terminate(to); break;
    case 'g': contract_consume_gas(); break;
    default: penta_trap();
    }
}
PENTA_EXPORT(call, 0);
