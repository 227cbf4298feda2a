/* Implements a token as a contract: the functions of ERC-20 that move and allow amounts, with their
 * events. The constructor takes the supply, which belongs to whoever deploys the contract.
 *
 *     penta-cc -O2 token.c --isa revive_v1 -o token.polkavm
 *     penta run token.polkavm --host revive --call deploy --calldata 00..0f4240 --call call --calldata 18160ddd
 *
 * Numbers are 32 bytes with the highest first, as they are in the input. */
#include <penta_contract.h>
#include <stdbool.h>
#include <string.h>

typedef struct {
    uint8_t byte[32];
} word;

/* the kinds of stored values, in the first byte of the hashed key */
enum { SUPPLY, BALANCE, ALLOWANCE };

static const word transfer_topic = {{0xdd, 0xf2, 0x52, 0xad, 0x1b, 0xe2, 0xc8, 0x9b,
                                     0x69, 0xc2, 0xb0, 0x68, 0xfc, 0x37, 0x8d, 0xaa,
                                     0x95, 0x2b, 0xa7, 0xf1, 0x63, 0xc4, 0xa1, 0x16,
                                     0x28, 0xf5, 0x5a, 0x4d, 0xf5, 0x23, 0xb3, 0xef}};
static const word approval_topic = {{0x8c, 0x5b, 0xe1, 0xe5, 0xeb, 0xec, 0x7d, 0x5b,
                                     0xd1, 0x4f, 0x71, 0x42, 0x7d, 0x1e, 0x84, 0xf3,
                                     0xdd, 0x03, 0x14, 0xc0, 0xf7, 0xb2, 0x29, 0x1e,
                                     0x5b, 0x20, 0x0a, 0xc8, 0xc7, 0xc3, 0xb9, 0x25}};

static __attribute__((noreturn)) void give_back(uint32_t flags, const void *data, uint32_t size)
{
    contract_return(flags, data, size);
    penta_trap();
}

static void token_require(bool condition)
{
    if (!condition) give_back(CONTRACT_REVERT, NULL, 0);
}

/* Returns false when the sum is too large. */
static bool word_add(word *a, const word *b)
{
    unsigned carry = 0;
    for (int i = 31; i >= 0; i--) {
        carry += (unsigned)a->byte[i] + b->byte[i];
        a->byte[i] = (uint8_t)carry;
        carry >>= 8;
    }
    return !carry;
}

/* Returns false when the difference is below zero. */
static bool word_subtract(word *a, const word *b)
{
    int borrow = 0;
    for (int i = 31; i >= 0; i--) {
        borrow += a->byte[i] - b->byte[i];
        a->byte[i] = (uint8_t)borrow;
        borrow >>= 8;
    }
    return !borrow;
}

static word key_of(uint8_t what, const word *a, const word *b)
{
    struct {
        uint8_t what;
        word a, b;
    } whole;
    word key;
    memset(&whole, 0, sizeof whole);
    whole.what = what;
    if (a) whole.a = *a;
    if (b) whole.b = *b;
    contract_keccak(&whole, sizeof whole, key.byte);
    return key;
}

static word storage_load(word key)
{
    word value = {{0}};
    uint32_t size = sizeof value;
    contract_load(CONTRACT_PERSISTENT, key.byte, CONTRACT_KEY_32, &value, &size);
    return value;
}

static void storage_store(word key, const word *value)
{
    contract_store(CONTRACT_PERSISTENT, key.byte, CONTRACT_KEY_32, value, sizeof *value);
}

static word call_argument(uint32_t index)
{
    word w;
    contract_input(&w, sizeof w, 4 + 32 * index);
    return w;
}

static word call_account(uint32_t index)
{
    word w = call_argument(index);
    for (int i = 0; i < 12; i++) token_require(!w.byte[i]);
    return w;
}

static word call_sender(void)
{
    word w = {{0}};
    contract_caller(w.byte + 12);
    return w;
}

static void event_emit(const word *topic, const word *a, const word *b, const word *amount)
{
    word topics[3] = {*topic, *a, *b};
    contract_event(topics, 3, amount, sizeof *amount);
}

static void balance_move(const word *from, const word *to, const word *amount)
{
    word key = key_of(BALANCE, from, NULL), balance = storage_load(key);
    token_require(word_subtract(&balance, amount));
    storage_store(key, &balance);
    key = key_of(BALANCE, to, NULL);
    balance = storage_load(key);
    token_require(word_add(&balance, amount));
    storage_store(key, &balance);
    event_emit(&transfer_topic, from, to, amount);
}

static __attribute__((noreturn)) void give_word(word w)
{
    give_back(CONTRACT_SUCCESS, &w, sizeof w);
}
static __attribute__((noreturn)) void give_true(void)
{
    word w = {{0}};
    w.byte[31] = 1;
    give_word(w);
}

void deploy(void)
{
    word supply, owner = call_sender(), none = {{0}};
    token_require(contract_input_size() == sizeof supply);
    contract_input(&supply, sizeof supply, 0);
    storage_store(key_of(SUPPLY, NULL, NULL), &supply);
    storage_store(key_of(BALANCE, &owner, NULL), &supply);
    event_emit(&transfer_topic, &none, &owner, &supply);
    give_back(CONTRACT_SUCCESS, NULL, 0);
}
PENTA_EXPORT(deploy, 0);

void call(void)
{
    uint8_t selector[4], paid[32];
    word from = call_sender(), a, b, amount;
    contract_value(paid);
    for (int i = 0; i < 32; i++) token_require(!paid[i]);
    token_require(contract_input_size() >= sizeof selector);
    contract_input(selector, sizeof selector, 0);
    switch ((uint32_t)selector[0] << 24 | selector[1] << 16 | selector[2] << 8 | selector[3]) {
    case 0x18160ddd: /* totalSupply() */ give_word(storage_load(key_of(SUPPLY, NULL, NULL)));
    case 0x70a08231: /* balanceOf(address) */
        a = call_account(0);
        give_word(storage_load(key_of(BALANCE, &a, NULL)));
    case 0xdd62ed3e: /* allowance(address,address) */
        a = call_account(0);
        b = call_account(1);
        give_word(storage_load(key_of(ALLOWANCE, &a, &b)));
    case 0xa9059cbb: /* transfer(address,uint256) */
        a = call_account(0);
        amount = call_argument(1);
        balance_move(&from, &a, &amount);
        give_true();
    case 0x095ea7b3: /* approve(address,uint256) */
        a = call_account(0);
        amount = call_argument(1);
        storage_store(key_of(ALLOWANCE, &from, &a), &amount);
        event_emit(&approval_topic, &from, &a, &amount);
        give_true();
    case 0x23b872dd: { /* transferFrom(address,address,uint256) */
        a = call_account(0);
        b = call_account(1);
        amount = call_argument(2);
        word key = key_of(ALLOWANCE, &a, &from), left = storage_load(key);
        token_require(word_subtract(&left, &amount));
        storage_store(key, &left);
        balance_move(&a, &b, &amount);
        give_true();
    }
    default: token_require(false);
    }
}
PENTA_EXPORT(call, 0);
