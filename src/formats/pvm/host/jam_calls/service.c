/* Answers the host calls (JAM 9.4) by which a service changes accounts, makes and ejects
 * services, and transfers money. */
#include "base/bytes.h"
#include "base/array.h"
#include "crypto/hash.h"
#include "pvm/host/jam/host.h"
#include <stdlib.h>
#include <string.h>

enum { REQUEST = 81, ID_STEP = 42 };

/* Reads the account of the service that runs. */
static bool own_account(struct jam_run *run, struct jam_account *own)
{
    return jam_account_get(run->layer, run->service, own);
}

enum jam_end jam_call_checkpoint(struct jam_run *run, uint64_t *r, penta_bytes a, penta_bytes b)
{
    (void)a, (void)b;
    jam_layer_mark(run->layer);
    run->marked = run->now;
    return jam_result(r, run->vm->state->gas);
}

uint32_t jam_free_id(struct jam_run *run, uint64_t from)
{
    uint64_t first = run->host->version->first_id;
    uint64_t range = (UINT64_C(1) << 32) - first - 256;
    uint64_t id = first + (from - first) % range;
    while (jam_account_exists(run->layer, (uint32_t)id)) id = first + (id - first + 1) % range;
    return (uint32_t)id;
}

/* Tells whether the service that runs is the registrar, or the manager. */
static bool service_is_privileged(struct jam_run *run, bool registrar)
{
    const struct jam_version *version = run->host->version;
    struct jam_privileges p;
    jam_privileges_get(run->layer, run->host->chain.cores, version->registrar, &p);
    bool is = run->service == (registrar ? p.registrar : p.manager);
    jam_privileges_free(&p);
    return is;
}

enum jam_end jam_call_new(struct jam_run *run, uint64_t *r, penta_bytes hash, penta_bytes b)
{
    (void)b;
    const struct jam_chain *chain = &run->host->chain;
    const struct jam_version *version = run->host->version;
    struct jam_account own, fresh = {.items = 2,
                                     .min_gas = r[9],
                                     .min_memo_gas = r[10],
                                     .gratis = r[11],
                                     .created = run->slot,
                                     .parent = run->service};
    if (r[8] > UINT32_MAX) return JAM_END_PANIC;
    if (!own_account(run, &own)) return jam_result(r, JAM_HUH);
    if (r[11] && !service_is_privileged(run, false)) return jam_result(r, JAM_HUH);
    memcpy(fresh.code_hash, hash.data, JAM_HASH);
    fresh.octets = REQUEST + r[8];
    fresh.balance = jam_threshold(chain, &fresh);
    if (own.balance < fresh.balance || own.balance - fresh.balance < jam_threshold(chain, &own))
        return jam_result(r, JAM_CASH);
    uint32_t id = run->now.next_id;
    bool chosen =
        version->registrar && r[12] < version->first_id && service_is_privileged(run, true);
    if (chosen) {
        id = (uint32_t)r[12];
        if (jam_account_exists(run->layer, id)) return jam_result(r, JAM_FULL);
    }
    own.balance -= fresh.balance;
    jam_account_set(run->layer, run->service, &own);
    jam_account_set(run->layer, id, &fresh);
    jam_request_set(run->layer, id, hash.data, (uint32_t)r[8], &(struct jam_request){0});
    if (!chosen) run->now.next_id = jam_free_id(run, (uint64_t)id + ID_STEP);
    return jam_result(r, id);
}

enum jam_end jam_call_upgrade(struct jam_run *run, uint64_t *r, penta_bytes hash, penta_bytes b)
{
    (void)b;
    struct jam_account own;
    if (!own_account(run, &own)) return jam_result(r, JAM_HUH);
    memcpy(own.code_hash, hash.data, JAM_HASH);
    own.min_gas = r[8];
    own.min_memo_gas = r[9];
    jam_account_set(run->layer, run->service, &own);
    return jam_result(r, JAM_OK);
}

/* The functions below answer calls about money. */

static bool append_transfer(struct jam_run *run, const struct jam_transfer *t)
{
    if (!ARRAY_RESERVE(run->transfers, run->transfer_capacity, run->now.transfers + 1))
        return false;
    run->transfers[run->now.transfers++] = *t;
    return true;
}

/* Makes a transfer. The gas that goes with it is paid when it succeeds, unless the cost of the
 * call includes that gas. */
static enum jam_end service_transfer(struct jam_run *run, uint64_t *r, penta_bytes memo,
                                     bool prepaid)
{
    struct jam_account own, to;
    uint64_t amount = r[8], gas = r[9];
    if (r[7] > UINT32_MAX || !jam_account_get(run->layer, (uint32_t)r[7], &to))
        return jam_result(r, JAM_WHO);
    if (gas < to.min_memo_gas) return jam_result(r, JAM_LOW);
    if (!own_account(run, &own) || own.balance < amount ||
        own.balance - amount < jam_threshold(&run->host->chain, &own))
        return jam_result(r, JAM_CASH);
    if (!prepaid) {
        if (gas > (uint64_t)run->vm->state->gas) return JAM_END_GAS;
        run->vm->state->gas -= (int64_t)gas;
    }
    struct jam_transfer t = {
        .from = run->service, .to = (uint32_t)r[7], .amount = amount, .gas = gas};
    memcpy(t.memo, memo.data, sizeof t.memo);
    if (!append_transfer(run, &t)) return jam_no_memory(run);
    own.balance -= amount;
    jam_account_set(run->layer, run->service, &own);
    return jam_result(r, JAM_OK);
}

enum jam_end jam_call_transfer(struct jam_run *run, uint64_t *r, penta_bytes memo, penta_bytes b)
{
    (void)b;
    return service_transfer(run, r, memo, false);
}

/* Answers transfer in versions up to 0.7.1, where its cost includes the gas that goes with it. */
enum jam_end jam_call_prepaid_transfer(struct jam_run *run, uint64_t *r, penta_bytes memo,
                                       penta_bytes b)
{
    (void)b;
    return service_transfer(run, r, memo, true);
}

/* Tells whether slot y is more than expunge_period slots ago. No slot is while the present slot
 * is below that number. */
static bool service_expired(const struct jam_run *run, uint32_t y)
{
    uint64_t period = run->host->chain.expunge_period;
    return run->slot >= period && y < run->slot - period;
}

/* Ejects another service. This is allowed when the code hash of the other service is the id of
 * this one, and when all that is left of the other is one preimage that was forgotten long ago. */
enum jam_end jam_call_eject(struct jam_run *run, uint64_t *r, penta_bytes hash, penta_bytes b)
{
    (void)b;
    uint8_t own_id[JAM_HASH] = {0}, key[JAM_KEY];
    struct jam_account own, other;
    struct jam_request request;
    bytes_put32(own_id, run->service);
    uint32_t id = (uint32_t)r[7];
    if (r[7] > UINT32_MAX || id == run->service || !jam_account_get(run->layer, id, &other) ||
        memcmp(other.code_hash, own_id, JAM_HASH))
        return jam_result(r, JAM_WHO);
    uint64_t length = other.octets > REQUEST ? other.octets - REQUEST : 0;
    if (other.items != 2 || length > UINT32_MAX ||
        !jam_request_get(run->layer, id, hash.data, (uint32_t)length, &request))
        return jam_result(r, JAM_HUH);
    if (request.count != 2 || !service_expired(run, request.slots[1]) || !own_account(run, &own))
        return jam_result(r, JAM_HUH);
    own.balance += other.balance;
    jam_account_set(run->layer, run->service, &own);
    jam_request_set(run->layer, id, hash.data, (uint32_t)length, NULL);
    penta_jam_preimage_key(id, hash.data, key);
    jam_layer_remove(run->layer, key);
    penta_jam_account_key(id, key);
    jam_layer_remove(run->layer, key);
    return jam_result(r, JAM_OK);
}

/* The functions below answer calls about preimages. */

enum jam_end jam_call_query(struct jam_run *run, uint64_t *r, penta_bytes hash, penta_bytes b)
{
    (void)b;
    struct jam_request q;
    bool has = r[8] <= UINT32_MAX &&
               jam_request_get(run->layer, run->service, hash.data, (uint32_t)r[8], &q);
    r[8] = 0;
    if (!has) return jam_result(r, JAM_NONE);
    if (q.count > 1) r[8] = q.slots[1] | (uint64_t)q.slots[2] << 32;
    return jam_result(r, (int64_t)(q.count | (q.count ? (uint64_t)q.slots[0] << 32 : 0)));
}

enum jam_end jam_call_solicit(struct jam_run *run, uint64_t *r, penta_bytes hash, penta_bytes b)
{
    (void)b;
    struct jam_account own;
    struct jam_request q;
    if (!own_account(run, &own)) return jam_result(r, JAM_HUH);
    /* The length in a request has 32 bits. */
    if (r[8] > UINT32_MAX) return jam_result(r, JAM_FULL);
    uint32_t length = (uint32_t)r[8];
    bool had = jam_request_get(run->layer, run->service, hash.data, length, &q);
    if (!had) {
        q = (struct jam_request){0};
        own.items += 2;
        own.octets += REQUEST + length;
    } else if (q.count == 2) {
        q.slots[q.count++] = run->slot;
    } else {
        return jam_result(r, JAM_HUH);
    }
    if (own.balance < jam_threshold(&run->host->chain, &own)) return jam_result(r, JAM_FULL);
    jam_request_set(run->layer, run->service, hash.data, length, &q);
    if (!had) jam_account_set(run->layer, run->service, &own);
    return jam_result(r, JAM_OK);
}

static void remove_request(struct jam_run *run, struct jam_account *own, const uint8_t *hash,
                           uint32_t length)
{
    uint8_t key[JAM_KEY];
    own->items -= 2;
    own->octets -= REQUEST + (uint64_t)length;
    jam_account_set(run->layer, run->service, own);
    jam_request_set(run->layer, run->service, hash, length, NULL);
    penta_jam_preimage_key(run->service, hash, key);
    jam_layer_remove(run->layer, key);
}

enum jam_end jam_call_forget(struct jam_run *run, uint64_t *r, penta_bytes hash, penta_bytes b)
{
    (void)b;
    struct jam_account own;
    struct jam_request q;
    uint32_t length = (uint32_t)r[8];
    if (r[8] > UINT32_MAX || !own_account(run, &own) ||
        !jam_request_get(run->layer, run->service, hash.data, length, &q))
        return jam_result(r, JAM_HUH);
    if (!q.count || (q.count == 2 && service_expired(run, q.slots[1]))) {
        remove_request(run, &own, hash.data, length);
        return jam_result(r, JAM_OK);
    }
    if (q.count == 1)
        q = (struct jam_request){.count = 2, .slots = {q.slots[0], run->slot}};
    else if (q.count == 3 && service_expired(run, q.slots[1]))
        q = (struct jam_request){.count = 2, .slots = {q.slots[2], run->slot}};
    else
        return jam_result(r, JAM_HUH);
    jam_request_set(run->layer, run->service, hash.data, length, &q);
    return jam_result(r, JAM_OK);
}

/* The calls below give something to the block in which the service runs. */

enum jam_end jam_call_yield(struct jam_run *run, uint64_t *r, penta_bytes hash, penta_bytes b)
{
    (void)b;
    run->now.has_yield = true;
    memcpy(run->now.yield, hash.data, JAM_HASH);
    return jam_result(r, JAM_OK);
}

static bool service_provided(const struct jam_run *run, const struct jam_provision *p)
{
    for (size_t i = 0; i < run->now.provisions; i++)
        if (run->provisions[i].service == p->service && run->provisions[i].size == p->size &&
            !memcmp(run->provisions[i].hash, p->hash, JAM_HASH))
            return true;
    return false;
}

enum jam_end jam_call_provide(struct jam_run *run, uint64_t *r, penta_bytes blob, penta_bytes b)
{
    (void)b;
    struct jam_request q;
    uint64_t which = r[7] == UINT64_MAX ? run->service : r[7];
    if (which > UINT32_MAX || !jam_account_exists(run->layer, (uint32_t)which))
        return jam_result(r, JAM_WHO);
    struct jam_provision p = {.service = (uint32_t)which, .size = (uint32_t)blob.size};
    struct long_work work = vm_long_work(&run->vm->base);
    hash_blake2b256_work(blob, p.hash, &work);
    if (work.ended) return JAM_END_INTERRUPT;
    if (blob.size > UINT32_MAX || !jam_request_get(run->layer, p.service, p.hash, p.size, &q) ||
        q.count || service_provided(run, &p))
        return jam_result(r, JAM_HUH);
    if (!ARRAY_RESERVE(run->provisions, run->provision_capacity, run->now.provisions + 1))
        return jam_no_memory(run);
    p.blob = malloc(blob.size + 1);
    if (!p.blob) return jam_no_memory(run);
    if (!long_work_copy(p.blob, blob, &work)) {
        free(p.blob);
        return JAM_END_INTERRUPT;
    }
    run->provisions[run->now.provisions++] = p;
    return jam_result(r, JAM_OK);
}
