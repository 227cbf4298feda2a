/* What a contract may ask about itself, other accounts, the transaction and the block. */
#include <string.h>
#include "pvm/host/keccak.h"
#include "pvm/host/revive/calls.h"

bool call_address(const struct request *q)
{
    return give(q, q->a[0], account_address(q->frame->account), ADDRESS);
}
bool call_caller(const struct request *q) { return give(q, q->a[0], q->frame->caller, ADDRESS); }
bool call_origin(const struct request *q) { return give(q, q->a[0], q->r->now->caller, ADDRESS); }
bool call_value_transferred(const struct request *q)
{
    return give_number(q, q->a[0], &q->frame->value);
}
bool call_caller_is_origin(const struct request *q)
{
    return result(q, !memcmp(q->frame->caller, q->r->now->caller, ADDRESS));
}

bool call_balance(const struct request *q)
{
    return give_number(q, q->a[0], &q->frame->account->is.balance);
}

bool call_balance_of(const struct request *q)
{
    uint8_t address[ADDRESS];
    struct u256 none = {{0}};
    if (!fetch_address(q, q->a[0], address)) return false;
    const struct account *a = chain_find(&q->r->chain, address);
    return give_number(q, q->a[1], a ? &a->is.balance : &none);
}

bool call_minimum_balance(const struct request *q)
{
    struct u256 none = {{0}};
    return give_number(q, q->a[0], &none);
}

/* ---- the block ---- */

bool call_now(const struct request *q) { return give_number(q, q->a[0], &q->r->now->time); }
bool call_chain_id(const struct request *q)
{
    return give_number(q, q->a[0], &q->r->block.chain_id);
}
bool call_base_fee(const struct request *q)
{
    return give_number(q, q->a[0], &q->r->block.base_fee);
}
bool call_block_number(const struct request *q)
{
    return give_number(q, q->a[0], &q->r->block.number);
}
bool call_block_author(const struct request *q)
{
    return give(q, q->a[0], q->r->block.author, ADDRESS);
}
bool call_gas_price(const struct request *q) { return result(q, q->r->block.gas_price); }
bool call_gas_limit(const struct request *q) { return result(q, q->r->block.gas_limit); }
bool call_ref_time_left(const struct request *q) { return result(q, gas_left(q)); }

/* The 256 blocks before this one have a hash. */
bool call_block_hash(const struct request *q)
{
    struct u256 number, most = u256_of(256);
    uint8_t hash[HASH] = {0};
    if (!fetch_number(q, q->a[0], &number)) return false;
    if (u256_compare(&number, &q->r->block.number) < 0) {
        struct u256 ago = u256_subtract(&q->r->block.number, &number);
        if (u256_compare(&ago, &most) <= 0) address_block_hash(&number, hash);
    }
    return give(q, q->a[1], hash, HASH);
}

/* ---- code ---- */

bool call_code_size(const struct request *q)
{
    uint8_t address[ADDRESS];
    if (!fetch_address(q, q->a[0], address)) return false;
    const struct account *a = chain_find(&q->r->chain, address);
    return result(q, a && a->is.code ? a->is.code->bytes.size : 0);
}

/* An account without code has the hash of nothing; no account has none. */
static void hash_of_code(const struct account *a, uint8_t hash[HASH])
{
    memset(hash, 0, HASH);
    if (a && a->is.code)
        memcpy(hash, code_hash(a->is.code), HASH);
    else if (account_exists(a))
        keccak256((penta_bytes){0}, hash);
}

bool call_code_hash(const struct request *q)
{
    uint8_t address[ADDRESS], hash[HASH];
    if (!fetch_address(q, q->a[0], address)) return false;
    hash_of_code(chain_find(&q->r->chain, address), hash);
    return give(q, q->a[1], hash, HASH);
}

bool call_own_code_hash(const struct request *q)
{
    return give(q, q->a[0], code_hash(q->frame->code_now), HASH);
}

bool call_is_contract(const struct request *q)
{
    uint8_t address[ADDRESS];
    if (!fetch_address(q, q->a[0], address)) return false;
    const struct account *a = chain_find(&q->r->chain, address);
    return result(q, a && a->is.contract);
}

bool call_to_account_id(const struct request *q)
{
    uint8_t id[HASH];
    memset(id, 0xee, sizeof id);
    return fetch_address(q, q->a[0], id) && give(q, q->a[1], id, HASH);
}
