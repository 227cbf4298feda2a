/* Reads and writes accounts, preimages, requests and privileges as values in a layer (layer.h),
 * and makes their keys (JAM 11). */
#include "pvm/host/jam/account.h"
#include "base/bytes.h"
#include "crypto/hash.h"
#include "pvm/host/jam/codec.h"
#include <stdlib.h>
#include <string.h>

enum { RECORD = 88 }; /* how many bytes a record has, without the version byte */

void penta_jam_hash(penta_bytes bytes, uint8_t *hash) { hash_blake2b256(bytes, hash); }

void penta_jam_key(uint8_t chapter, uint8_t *key)
{
    memset(key, 0, JAM_KEY);
    key[0] = chapter;
}

void penta_jam_account_key(uint32_t service, uint8_t *key)
{
    memset(key, 0, JAM_KEY);
    key[0] = 255;
    for (unsigned i = 0; i < 4; i++) key[1 + 2 * i] = (uint8_t)(service >> 8 * i);
}

/* Makes a key: the bytes of the service's number alternate with the first bytes of the hash of
 * prefix and name. */
static void hashed_key(uint32_t service, uint32_t prefix, penta_bytes name, uint8_t *key,
                       struct long_work *work)
{
    uint8_t head[4], hash[JAM_HASH];
    bytes_put32(head, prefix);
    penta_bytes pieces[2] = {{head, sizeof head}, name};
    hash_blake2b256_pieces(pieces, 2, hash, work);
    for (unsigned i = 0; i < 4; i++) {
        key[2 * i] = (uint8_t)(service >> 8 * i);
        key[2 * i + 1] = hash[i];
    }
    memcpy(key + 8, hash + 4, JAM_KEY - 8);
}

void jam_storage_key_work(uint32_t service, penta_bytes name, uint8_t *key, struct long_work *work)
{
    hashed_key(service, UINT32_MAX, name, key, work);
}

void penta_jam_storage_key(uint32_t service, penta_bytes name, uint8_t *key)
{
    jam_storage_key_work(service, name, key, NULL);
}

void penta_jam_preimage_key(uint32_t service, const uint8_t *hash, uint8_t *key)
{
    hashed_key(service, UINT32_MAX - 1, (penta_bytes){hash, JAM_HASH}, key, NULL);
}

void penta_jam_request_key(uint32_t service, const uint8_t *hash, uint32_t length, uint8_t *key)
{
    hashed_key(service, length, (penta_bytes){hash, JAM_HASH}, key, NULL);
}

void jam_queue_key(uint32_t core, uint8_t *key)
{
    penta_jam_key(JAM_QUEUES, key);
    bytes_put32(key + 1, core + 1);
}

static bool account_zeros(const uint8_t *bytes, size_t size)
{
    while (size && !bytes[size - 1]) size--;
    return !size;
}

bool jam_key_service(const uint8_t *key, uint32_t *service, bool *record)
{
    bool rest = account_zeros(key + 8, JAM_KEY - 8);
    *record = key[0] == 255 && !key[2] && !key[4] && !key[6] && rest;
    if (rest && !*record) return false;
    *service = 0;
    for (unsigned i = 0; i < 4; i++) *service |= (uint32_t)key[2 * i + *record] << 8 * i;
    return true;
}

bool jam_account_number(const struct jam_account *account, unsigned i, const char **name,
                        uint64_t *value)
{
    const struct {
        const char *name;
        uint64_t value;
    } numbers[] = {{"balance", account->balance},
                   {"min_item_gas", account->min_gas},
                   {"min_memo_gas", account->min_memo_gas},
                   {"octets", account->octets},
                   {"gratis", account->gratis},
                   {"items", account->items},
                   {"created", account->created},
                   {"last", account->last},
                   {"parent", account->parent}};
    if (i >= sizeof numbers / sizeof *numbers) return false;
    *name = numbers[i].name;
    *value = numbers[i].value;
    return true;
}

bool jam_account_decode(penta_bytes bytes, struct jam_account *out)
{
    const uint8_t *p = bytes.data;
    if (bytes.size == RECORD + 1 && !*p)
        p++;
    else if (bytes.size != RECORD)
        return false;
    memcpy(out->code_hash, p, JAM_HASH);
    uint64_t *wide[] = {&out->balance, &out->min_gas, &out->min_memo_gas, &out->octets,
                        &out->gratis};
    uint32_t *narrow[] = {&out->items, &out->created, &out->last, &out->parent};
    for (unsigned i = 0; i < 5; i++) *wide[i] = bytes_get64(p + 32 + 8 * i);
    for (unsigned i = 0; i < 4; i++) *narrow[i] = bytes_get32(p + 72 + 4 * i);
    return true;
}

size_t jam_account_encode(const struct jam_account *a, bool plain, uint8_t *out)
{
    uint8_t *p = out;
    if (!plain) *p++ = 0;
    memcpy(p, a->code_hash, JAM_HASH);
    const uint64_t wide[] = {a->balance, a->min_gas, a->min_memo_gas, a->octets, a->gratis};
    const uint32_t narrow[] = {a->items, a->created, a->last, a->parent};
    for (unsigned i = 0; i < 5; i++) bytes_put64(p + 32 + 8 * i, wide[i]);
    for (unsigned i = 0; i < 4; i++) bytes_put32(p + 72 + 4 * i, narrow[i]);
    return RECORD + !plain;
}

bool jam_account_get(struct jam_layer *l, uint32_t id, struct jam_account *out)
{
    uint8_t key[JAM_KEY];
    penta_bytes value;
    penta_jam_account_key(id, key);
    return jam_layer_get(l, key, &value) && jam_account_decode(value, out);
}

bool jam_account_exists(struct jam_layer *l, uint32_t id)
{
    struct jam_account account;
    return jam_account_get(l, id, &account);
}

void jam_account_set(struct jam_layer *l, uint32_t id, const struct jam_account *account)
{
    uint8_t key[JAM_KEY], bytes[RECORD + 1];
    penta_jam_account_key(id, key);
    size_t size = jam_account_encode(account, l->plain_records, bytes);
    jam_layer_set(l, key, (penta_bytes){0}, (penta_bytes){bytes, size});
}

bool jam_preimage_get(struct jam_layer *l, uint32_t id, const uint8_t *hash, penta_bytes *out)
{
    uint8_t key[JAM_KEY];
    penta_jam_preimage_key(id, hash, key);
    return jam_layer_get(l, key, out);
}

bool jam_request_decode(penta_bytes bytes, struct jam_request *out)
{
    *out = (struct jam_request){0};
    if (!bytes.size || bytes.data[0] > 3 || bytes.size != 1u + 4u * bytes.data[0]) return false;
    out->count = bytes.data[0];
    for (unsigned i = 0; i < out->count; i++) out->slots[i] = bytes_get32(bytes.data + 1 + 4 * i);
    return true;
}

bool jam_request_get(struct jam_layer *l, uint32_t id, const uint8_t *hash, uint32_t length,
                     struct jam_request *out)
{
    uint8_t key[JAM_KEY];
    penta_bytes value;
    penta_jam_request_key(id, hash, length, key);
    return jam_layer_get(l, key, &value) && jam_request_decode(value, out);
}

void jam_request_set(struct jam_layer *l, uint32_t id, const uint8_t *hash, uint32_t length,
                     const struct jam_request *request)
{
    uint8_t key[JAM_KEY], bytes[13], name[JAM_HASH + 4];
    penta_jam_request_key(id, hash, length, key);
    if (!request) {
        jam_layer_remove(l, key);
        return;
    }
    unsigned count = request->count < 3 ? request->count : 3;
    bytes[0] = (uint8_t)count;
    for (unsigned i = 0; i < 3; i++) bytes_put32(bytes + 1 + 4 * i, request->slots[i]);
    memcpy(name, hash, JAM_HASH);
    bytes_put32(name + JAM_HASH, length);
    jam_layer_set(l, key, (penta_bytes){name, sizeof name},
                  (penta_bytes){bytes, 1 + 4 * (size_t)count});
}

/* Tells whether the preimage of a request was available at that slot. */
static bool request_available(const struct jam_request *request, uint32_t slot)
{
    const uint32_t *s = request->slots;
    switch (request->count) {
    case 1: return s[0] <= slot;
    case 2: return s[0] <= slot && slot < s[1];
    case 3: return (s[0] <= slot && slot < s[1]) || s[2] <= slot;
    default: return false;
    }
}

bool jam_historical_lookup(struct jam_layer *l, uint32_t id, const uint8_t *hash, uint32_t slot,
                           penta_bytes *out)
{
    struct jam_request request;
    return jam_account_exists(l, id) && jam_preimage_get(l, id, hash, out) &&
           out->size <= UINT32_MAX && jam_request_get(l, id, hash, (uint32_t)out->size, &request) &&
           request_available(&request, slot) && jam_preimage_get(l, id, hash, out);
}

bool jam_preimage_supply(struct jam_layer *l, uint32_t id, penta_bytes blob, uint32_t slot)
{
    uint8_t hash[JAM_HASH], key[JAM_KEY];
    struct jam_request request;
    hash_blake2b256(blob, hash);
    if (blob.size > UINT32_MAX || !jam_account_exists(l, id) ||
        !jam_request_get(l, id, hash, (uint32_t)blob.size, &request) || request.count)
        return false;
    request = (struct jam_request){.count = 1, .slots = {slot}};
    jam_request_set(l, id, hash, (uint32_t)blob.size, &request);
    penta_jam_preimage_key(id, hash, key);
    jam_layer_set(l, key, (penta_bytes){0}, blob);
    return true;
}

static bool read_privileges(struct reader *r, bool registrar, struct jam_privileges *out)
{
    out->manager = (uint32_t)reader_uint(r, 4);
    for (size_t i = 0; i < out->cores; i++) out->assigners[i] = (uint32_t)reader_uint(r, 4);
    out->delegator = (uint32_t)reader_uint(r, 4);
    if (registrar) out->registrar = (uint32_t)reader_uint(r, 4);
    size_t count;
    penta_bytes list = jam_take_list(r, 12, &count);
    if (r->err->code || reader_left(r)) return false;
    out->always = calloc(count + 1, sizeof *out->always);
    if (!out->always) return error_at(r->err, BASE_MEMORY, 0, "no memory for privileges");
    out->always_count = count;
    for (size_t i = 0; i < count; i++)
        out->always[i] = (struct jam_always){bytes_get32(list.data + 12 * i),
                                             bytes_get64(list.data + 12 * i + 4)};
    return true;
}

static bool privileges_none(struct jam_layer *l, size_t cores, struct jam_privileges *out)
{
    *out = (struct jam_privileges){.cores = cores, .assigners = calloc(cores + 1, 4)};
    if (out->assigners) return true;
    out->cores = 0;
    l->failed = true;
    return false;
}

bool jam_privileges_get(struct jam_layer *l, uint64_t cores, bool registrar,
                        struct jam_privileges *out)
{
    uint8_t key[JAM_KEY];
    penta_bytes value;
    penta_error err = {0};
    if (!privileges_none(l, (size_t)cores, out)) return false;
    penta_jam_key(JAM_PRIVILEGES, key);
    if (!jam_layer_get(l, key, &value)) return true;
    struct reader r = {.in = value, .err = &err};
    if (read_privileges(&r, registrar, out)) return true;
    jam_privileges_free(out);
    privileges_none(l, (size_t)cores, out);
    l->failed = l->failed || err.code == BASE_MEMORY;
    return false;
}

void jam_privileges_set(struct jam_layer *l, bool registrar, const struct jam_privileges *p)
{
    struct writer w = {0};
    uint8_t key[JAM_KEY];
    penta_jam_key(JAM_PRIVILEGES, key);
    writer_uint(&w, p->manager, 4);
    for (size_t i = 0; i < p->cores; i++) writer_uint(&w, p->assigners[i], 4);
    writer_uint(&w, p->delegator, 4);
    if (registrar) writer_uint(&w, p->registrar, 4);
    jam_put_nat(&w, p->always_count);
    for (size_t i = 0; i < p->always_count; i++) {
        writer_uint(&w, p->always[i].service, 4);
        writer_uint(&w, p->always[i].gas, 8);
    }
    if (w.failed)
        l->failed = true;
    else
        jam_layer_set(l, key, (penta_bytes){0}, writer_view(&w));
    writer_free(&w);
}

void jam_privileges_free(struct jam_privileges *p)
{
    free(p->assigners);
    free(p->always);
    p->assigners = NULL;
    p->always = NULL;
}
