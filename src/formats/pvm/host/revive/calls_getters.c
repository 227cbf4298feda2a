/* Answers the host calls (CONTRACT 6.1) that tell about the contract itself, other accounts, the
 * transaction and the block. */
#include <string.h>
#include "pvm/host/keccak.h"
#include "pvm/host/revive/calls.h"

bool revive_call_address(const struct request *q)
{
    return revive_give(q, q->a[0], revive_account_address(q->frame->account), ADDRESS);
}
bool revive_call_caller(const struct request *q)
{
    return revive_give(q, q->a[0], q->frame->caller, ADDRESS);
}
bool revive_call_origin(const struct request *q)
{
    return revive_give(q, q->a[0], q->r->now->caller, ADDRESS);
}
bool revive_call_value_transferred(const struct request *q)
{
    return revive_give_number(q, q->a[0], &q->frame->value);
}
bool revive_call_caller_is_origin(const struct request *q)
{
    return revive_result(q, !memcmp(q->frame->caller, q->r->now->caller, ADDRESS));
}

bool revive_call_balance(const struct request *q)
{
    return revive_give_number(q, q->a[0], &q->frame->account->is.balance);
}

bool revive_call_balance_of(const struct request *q)
{
    uint8_t address[ADDRESS];
    struct u256 none = {{0}};
    if (!revive_fetch_address(q, q->a[0], address)) return false;
    const struct account *a = revive_chain_find(&q->r->chain, address);
    return revive_give_number(q, q->a[1], a ? &a->is.balance : &none);
}

bool revive_call_minimum_balance(const struct request *q)
{
    struct u256 none = {{0}};
    return revive_give_number(q, q->a[0], &none);
}

bool revive_call_now(const struct request *q)
{
    return revive_give_number(q, q->a[0], &q->r->now->time);
}
bool revive_call_chain_id(const struct request *q)
{
    return revive_give_number(q, q->a[0], &q->r->block.chain_id);
}
bool revive_call_base_fee(const struct request *q)
{
    return revive_give_number(q, q->a[0], &q->r->block.base_fee);
}
bool revive_call_block_number(const struct request *q)
{
    return revive_give_number(q, q->a[0], &q->r->block.number);
}
bool revive_call_block_author(const struct request *q)
{
    return revive_give(q, q->a[0], q->r->block.author, ADDRESS);
}
bool revive_call_gas_price(const struct request *q)
{
    return revive_result(q, q->r->block.gas_price);
}
bool revive_call_gas_limit(const struct request *q)
{
    return revive_result(q, q->r->block.gas_limit);
}
bool revive_call_ref_time_left(const struct request *q)
{
    return revive_result(q, revive_gas_left(q));
}

/* Gives the hash of a block. Only the 256 blocks before this one have a hash. */
bool revive_call_block_hash(const struct request *q)
{
    struct u256 number, most = revive_u256_of(256);
    uint8_t hash[HASH] = {0};
    if (!revive_fetch_number(q, q->a[0], &number)) return false;
    if (revive_u256_compare(&number, &q->r->block.number) < 0) {
        struct u256 ago = revive_u256_subtract(&q->r->block.number, &number);
        if (revive_u256_compare(&ago, &most) <= 0) revive_block_hash(&number, hash);
    }
    return revive_give(q, q->a[1], hash, HASH);
}

bool revive_call_code_size(const struct request *q)
{
    uint8_t address[ADDRESS];
    if (!revive_fetch_address(q, q->a[0], address)) return false;
    const struct account *a = revive_chain_find(&q->r->chain, address);
    return revive_result(q, a && a->is.code ? a->is.code->bytes.size : 0);
}

/* Gives the hash of an account's code. An account without code has the hash of no bytes. Where
 * there is no account, the hash is zero. */
static void hash_of_code(const struct account *a, uint8_t hash[HASH])
{
    memset(hash, 0, HASH);
    if (a && a->is.code)
        memcpy(hash, revive_code_hash(a->is.code), HASH);
    else if (revive_account_exists(a))
        keccak256_digest((penta_bytes){0}, hash);
}

bool revive_call_code_hash(const struct request *q)
{
    uint8_t address[ADDRESS], hash[HASH];
    if (!revive_fetch_address(q, q->a[0], address)) return false;
    hash_of_code(revive_chain_find(&q->r->chain, address), hash);
    return revive_give(q, q->a[1], hash, HASH);
}

bool revive_call_own_code_hash(const struct request *q)
{
    return revive_give(q, q->a[0], revive_code_hash(q->frame->code_now), HASH);
}

bool revive_call_is_contract(const struct request *q)
{
    uint8_t address[ADDRESS];
    if (!revive_fetch_address(q, q->a[0], address)) return false;
    const struct account *a = revive_chain_find(&q->r->chain, address);
    return revive_result(q, a && a->is.contract);
}

bool revive_call_to_account_id(const struct request *q)
{
    uint8_t id[HASH];
    memset(id, 0xee, sizeof id);
    return revive_fetch_address(q, q->a[0], id) && revive_give(q, q->a[1], id, HASH);
}
