/* Reads and writes states as JSON that people can edit (JAM 2.3): chapters by name, and
 * accounts with their storage under the service's own keys, preimages, and requests. The member
 * "keys" has all other values, by state key. */
#include "base/bytes.h"
#include "base/number.h"
#include "crypto/hash.h"
#include "pvm/host/jam_json/json.h"
#include <stdlib.h>
#include <string.h>

static const struct chapter {
    const char *name;
    uint8_t number;
} chapters[] = {{"ready", JAM_READY},
                {"accumulated", JAM_ACCUMULATED},
                {"auth_queues", JAM_QUEUES},
                {"staging", JAM_STAGING},
                {"outputs", JAM_OUTPUTS}};
enum { CHAPTERS = sizeof chapters / sizeof *chapters };

struct reading {
    struct jam_json *j;
    penta_jam_state *state;
    uint32_t id;
    struct jam_account account; /* The account's items and octets are counted while it is read. */
};

static void state_set(struct reading *r, const uint8_t *key, penta_bytes name, penta_bytes value)
{
    if (!r->j->err->code) jam_layer_set(&r->state->changes, key, name, value);
}

static uint8_t *text_hex(struct jam_json *j, const char *text, size_t *size)
{
    if (!strncmp(text, "0x", 2)) text += 2;
    uint8_t *bytes = hex_parse(bytes_of(text), size, j->err);
    if (!bytes) error_at(j->err, BASE_JSON, 0, "'%.60s' is not hex", text);
    return bytes;
}

static void read_storage(void *user, const char *key, const struct json_object *value)
{
    struct reading *r = user;
    struct writer bytes = {0};
    uint8_t state_key[JAM_KEY];
    size_t size = 0, mark = jam_json_enter(r->j, "storage", JAM_NO_INDEX);
    uint8_t *name = text_hex(r->j, key, &size);
    jam_json_bytes(r->j, value, key, JAM_ANY_SIZE, &bytes);
    jam_json_leave(r->j, mark);
    if (name) {
        penta_jam_storage_key(r->id, (penta_bytes){name, size}, state_key);
        state_set(r, state_key, (penta_bytes){name, size}, writer_view(&bytes));
    }
    r->account.items++;
    r->account.octets += 34 + size + bytes.out.size;
    free(name);
    writer_free(&bytes);
}

static void add_request(struct reading *r, const uint8_t *hash, uint32_t length,
                        const struct jam_request *request)
{
    if (r->j->err->code) return;
    jam_request_set(&r->state->changes, r->id, hash, length, request);
    r->account.items += 2;
    r->account.octets += 81 + (uint64_t)length;
}

static void read_request(struct reading *r, const struct json_object *v)
{
    struct writer hash = {0};
    const struct json_object *slots = jam_json_list(r->j, v, "slots");
    struct jam_request request = {.count = (unsigned)json_length(slots)};
    uint64_t length = jam_json_uint(r->j, v, "length", 32);
    jam_json_hash(r->j, v, "hash", &hash);
    if (json_length(slots) > 3)
        error_at(r->j->err, BASE_JSON, 0, "a request has more than three slots");
    for (unsigned i = 0; i < 3 && i < request.count; i++) {
        uint64_t slot = 0;
        if (!json_as_uint(json_item(slots, i), &slot) || slot > UINT32_MAX)
            error_at(r->j->err, BASE_JSON, 0, "slots holds something else than a slot");
        request.slots[i] = (uint32_t)slot;
    }
    if (!r->j->err->code) add_request(r, hash.out.data, (uint32_t)length, &request);
    writer_free(&hash);
}

/* Reads a preimage and computes its hash. When `requested` is true, adds the request that
 * belongs to it. */
static void read_preimage(struct reading *r, const struct json_object *v, uint8_t *hash,
                          bool requested)
{
    struct writer blob = {0};
    uint8_t key[JAM_KEY];
    jam_json_bytes(r->j, v, "a preimage", JAM_ANY_SIZE, &blob);
    hash_blake2b256(writer_view(&blob), hash);
    penta_jam_preimage_key(r->id, hash, key);
    state_set(r, key, (penta_bytes){0}, writer_view(&blob));
    struct jam_request since = {.count = 1, .slots = {r->account.created}};
    if (requested) add_request(r, hash, (uint32_t)blob.out.size, &since);
    writer_free(&blob);
}

static void read_account(struct reading *r, const struct json_object *v)
{
    struct jam_json *j = r->j;
    struct jam_account *a = &r->account;
    struct writer hash = {0};
    uint8_t ignored[JAM_HASH];
    const struct json_object *preimages = jam_json_list(j, v, "preimages");
    const struct json_object *requests = jam_json_list(j, v, "requests");
    r->id = (uint32_t)jam_json_uint(j, v, "id", 32);
    *a = (struct jam_account){.balance = jam_json_uint(j, v, "balance", 64),
                              .min_gas = jam_json_uint_or(j, v, "min_item_gas", 64, 0),
                              .min_memo_gas = jam_json_uint_or(j, v, "min_memo_gas", 64, 0),
                              .gratis = jam_json_uint_or(j, v, "gratis", 64, 0),
                              .created = (uint32_t)jam_json_uint_or(j, v, "created", 32, 0),
                              .last = (uint32_t)jam_json_uint_or(j, v, "last", 32, 0),
                              .parent = (uint32_t)jam_json_uint_or(j, v, "parent", 32, 0)};
    json_each(jam_json_object(j, v, "storage"), read_storage, r);
    for (size_t i = 0; i < json_length(preimages) && !j->err->code; i++) {
        size_t mark = jam_json_enter(j, "preimages", i);
        read_preimage(r, json_item(preimages, i), ignored, false);
        jam_json_leave(j, mark);
    }
    for (size_t i = 0; i < json_length(requests) && !j->err->code; i++) {
        size_t mark = jam_json_enter(j, "requests", i);
        read_request(r, json_item(requests, i));
        jam_json_leave(j, mark);
    }
    if (json_get(v, "code")) {
        read_preimage(r, json_get(v, "code"), a->code_hash, true);
    } else if (json_get(v, "code_hash")) {
        jam_json_hash(j, v, "code_hash", &hash);
        if (!j->err->code) memcpy(a->code_hash, hash.out.data, JAM_HASH);
    }
    a->items = (uint32_t)jam_json_uint_or(j, v, "items", 32, a->items);
    a->octets = jam_json_uint_or(j, v, "octets", 64, a->octets);
    if (!j->err->code) jam_account_set(&r->state->changes, r->id, a);
    writer_free(&hash);
}

static void read_key(void *user, const char *key, const struct json_object *value)
{
    struct reading *r = user;
    struct writer bytes = {0};
    size_t size = 0, mark = jam_json_enter(r->j, "keys", JAM_NO_INDEX);
    uint8_t *k = text_hex(r->j, key, &size);
    if (k && size != JAM_KEY) error_at(r->j->err, BASE_JSON, 0, "a state key has 31 bytes");
    jam_json_bytes(r->j, value, key, JAM_ANY_SIZE, &bytes);
    jam_json_leave(r->j, mark);
    if (k) state_set(r, k, (penta_bytes){0}, writer_view(&bytes));
    free(k);
    writer_free(&bytes);
}

static void read_chapters(struct reading *r, const struct json_object *root)
{
    const struct penta_jam_host *host = r->state->host;
    uint64_t slots = host->chain.epoch_length;
    uint8_t key[JAM_KEY];
    for (unsigned i = 0; i < CHAPTERS; i++) {
        struct writer w = {0};
        const struct json_object *v = json_get(root, chapters[i].name);
        if (!v) continue;
        if (chapters[i].number == JAM_READY)
            jam_json_ready(r->j, v, slots, &w);
        else if (chapters[i].number == JAM_ACCUMULATED)
            jam_json_accumulated(r->j, v, slots, &w);
        else
            jam_json_bytes(r->j, v, chapters[i].name, JAM_ANY_SIZE, &w);
        penta_jam_key(chapters[i].number, key);
        state_set(r, key, (penta_bytes){0}, writer_view(&w));
        writer_free(&w);
    }
    if (json_get(root, "privileges")) {
        struct writer w = {0};
        jam_json_privileges(r->j, json_get(root, "privileges"), host, &w);
        penta_jam_key(JAM_PRIVILEGES, key);
        state_set(r, key, (penta_bytes){0}, writer_view(&w));
        writer_free(&w);
    }
    if (json_get(root, "slot")) {
        uint8_t slot[4];
        bytes_put32(slot, (uint32_t)jam_json_uint(r->j, root, "slot", 32));
        penta_jam_key(JAM_SLOT, key);
        state_set(r, key, (penta_bytes){0}, (penta_bytes){slot, 4});
    }
}

void jam_json_state(struct jam_json *j, const struct json_object *v, struct penta_jam_state *state)
{
    struct reading r = {.j = j, .state = state};
    const struct json_object *accounts = jam_json_list(j, v, "accounts");
    if (!json_is_object(v)) error_at(j->err, BASE_JSON, 0, "a state is a JSON object");
    read_chapters(&r, v);
    json_each(jam_json_object(j, v, "keys"), read_key, &r);
    for (size_t i = 0; i < json_length(accounts) && !j->err->code; i++) {
        size_t mark = jam_json_enter(j, "accounts", i);
        read_account(&r, json_item(accounts, i));
        jam_json_leave(j, mark);
    }
}

bool penta_jam_state_read(penta_jam_state *state, penta_bytes json, const char *folder,
                          penta_error *err)
{
    struct jam_json j = {.folder = folder, .err = err};
    *err = (penta_error){0};
    struct json_doc *doc = json_parse(json, err);
    if (doc) jam_json_state(&j, json_root(doc), state);
    jam_json_done(&j);
    json_doc_free(doc);
    if (state->changes.failed) error_at(err, BASE_MEMORY, 0, "no memory for the state");
    return !err->code;
}

enum jam_kind jam_key_kind(const uint8_t *key, const struct jam_value *value, uint32_t *service)
{
    uint8_t other[JAM_KEY], hash[JAM_HASH];
    bool record;
    if (!jam_key_service(key, service, &record)) return JAM_IS_CHAPTER;
    if (record) return JAM_IS_RECORD;
    penta_bytes name = jam_value_name(value);
    if (name.size == JAM_HASH + 4) {
        penta_jam_request_key(*service, name.data, bytes_get32(name.data + JAM_HASH), other);
        if (!memcmp(key, other, JAM_KEY)) return JAM_IS_REQUEST;
    }
    penta_jam_storage_key(*service, name, other);
    if (!memcmp(key, other, JAM_KEY)) return JAM_IS_STORAGE;
    hash_blake2b256(jam_value_bytes(value), hash);
    penta_jam_preimage_key(*service, hash, other);
    return memcmp(key, other, JAM_KEY) ? JAM_IS_UNKNOWN : JAM_IS_PREIMAGE;
}

struct row { /* A row is one value of the state; rows are sorted by service and kind. */
    uint32_t service;
    enum jam_kind kind;
    const struct jam_entry *entry;
};

static int rows_by_service(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    if (x->service != y->service) return x->service > y->service ? 1 : -1;
    if (x->kind != y->kind) return x->kind > y->kind ? 1 : -1;
    return memcmp(x->entry->key, y->entry->key, JAM_KEY);
}

static void hex_member(struct json *j, penta_bytes key, penta_bytes value)
{
    struct writer name = {0};
    writer_hex(&name, key);
    writer_char(&name, 0);
    if (name.failed)
        j->out->failed = true;
    else
        json_hex(j, (const char *)name.out.data, value);
    writer_free(&name);
}

static void write_request(struct json *j, const struct jam_entry *e)
{
    struct jam_request request;
    penta_bytes name = jam_value_name(e->value);
    jam_request_decode(jam_value_bytes(e->value), &request);
    json_object(j, NULL);
    json_hex(j, "hash", bytes_slice(name, 0, JAM_HASH));
    json_uint(j, "length", bytes_get32(name.data + JAM_HASH));
    json_list(j, "slots");
    for (unsigned i = 0; i < request.count; i++) json_uint(j, NULL, request.slots[i]);
    json_end(j);
    json_end(j);
}

/* Writes all rows of one service that are of one kind. */
static void write_kind(struct json *j, const struct row *rows, size_t count, enum jam_kind kind,
                       const char *key)
{
    bool open = false;
    for (size_t i = 0; i < count; i++) {
        if (rows[i].kind != kind) continue;
        if (!open && kind == JAM_IS_STORAGE)
            json_object(j, key);
        else if (!open)
            json_list(j, key);
        open = true;
        const struct jam_value *v = rows[i].entry->value;
        if (kind == JAM_IS_STORAGE)
            hex_member(j, jam_value_name(v), jam_value_bytes(v));
        else if (kind == JAM_IS_REQUEST)
            write_request(j, rows[i].entry);
        else
            json_hex(j, NULL, jam_value_bytes(v));
    }
    if (open) json_end(j);
}

/* Writes an account. Items and octets are written only when they do not follow from the rest. */
static void write_account(struct json *j, const struct row *rows, size_t count)
{
    struct jam_account a = {0};
    uint64_t items = 0, octets = 0;
    jam_account_decode(jam_value_bytes(rows[0].entry->value), &a);
    for (size_t i = 0; i < count; i++) {
        const struct jam_value *v = rows[i].entry->value;
        items += rows[i].kind == JAM_IS_STORAGE ? 1 : rows[i].kind == JAM_IS_REQUEST ? 2 : 0;
        if (rows[i].kind == JAM_IS_STORAGE) octets += 34 + v->name_size + v->size;
        if (rows[i].kind == JAM_IS_REQUEST)
            octets += 81 + (uint64_t)bytes_get32(v->bytes + JAM_HASH);
    }
    json_object(j, NULL);
    json_uint(j, "id", rows[0].service);
    json_hex(j, "code_hash", (penta_bytes){a.code_hash, JAM_HASH});
    json_uint(j, "balance", a.balance);
    json_uint(j, "min_item_gas", a.min_gas);
    json_uint(j, "min_memo_gas", a.min_memo_gas);
    json_uint(j, "gratis", a.gratis);
    json_uint(j, "created", a.created);
    json_uint(j, "last", a.last);
    json_uint(j, "parent", a.parent);
    if (items != a.items) json_uint(j, "items", a.items);
    if (octets != a.octets) json_uint(j, "octets", a.octets);
    write_kind(j, rows, count, JAM_IS_STORAGE, "storage");
    write_kind(j, rows, count, JAM_IS_PREIMAGE, "preimages");
    write_kind(j, rows, count, JAM_IS_REQUEST, "requests");
    json_end(j);
}

static void write_privileges(struct json *j, struct penta_jam_state *state)
{
    struct jam_privileges p;
    const struct penta_jam_host *host = state->host;
    jam_privileges_get(&state->changes, host->chain.cores, host->version->registrar, &p);
    json_object(j, "privileges");
    json_uint(j, "bless", p.manager);
    json_list(j, "assign");
    for (size_t i = 0; i < p.cores && p.assigners; i++) json_uint(j, NULL, p.assigners[i]);
    json_end(j);
    json_uint(j, "designate", p.delegator);
    if (host->version->registrar) json_uint(j, "register", p.registrar);
    json_list(j, "always_acc");
    for (size_t i = 0; i < p.always_count; i++) {
        json_object(j, NULL);
        json_uint(j, "id", p.always[i].service);
        json_uint(j, "gas", p.always[i].gas);
        json_end(j);
    }
    json_end(j);
    json_end(j);
    jam_privileges_free(&p);
}

static void write_chapters(struct json *j, struct penta_jam_state *state)
{
    uint8_t key[JAM_KEY];
    penta_bytes value;
    penta_jam_key(JAM_SLOT, key);
    if (penta_jam_state_get(state, key, &value) && value.size == 4)
        json_uint(j, "slot", bytes_get32(value.data));
    penta_jam_key(JAM_PRIVILEGES, key);
    if (penta_jam_state_get(state, key, &value)) write_privileges(j, state);
    for (unsigned i = 0; i < CHAPTERS; i++) {
        penta_jam_key(chapters[i].number, key);
        if (penta_jam_state_get(state, key, &value)) json_hex(j, chapters[i].name, value);
    }
}

/* Tells whether the key is that of a chapter which write_chapters shows under a name. */
static bool chapter_has_member(const uint8_t *key)
{
    static const uint8_t others[] = {JAM_SLOT, JAM_PRIVILEGES};
    uint8_t chapter[JAM_KEY];
    for (unsigned i = 0; i < CHAPTERS + sizeof others; i++) {
        penta_jam_key(i < CHAPTERS ? chapters[i].number : others[i - CHAPTERS], chapter);
        if (!memcmp(key, chapter, JAM_KEY)) return true;
    }
    return false;
}

static size_t state_collect(struct jam_layer *all, struct row **out)
{
    size_t count = 0, n = 0;
    const struct jam_entry **list = jam_layer_sorted(all, &count);
    struct row *rows = calloc(count + 1, sizeof *rows);
    for (size_t i = 0; list && rows && i < count; i++) {
        if (!list[i]->value) continue;
        struct row row = {.entry = list[i]};
        row.kind = jam_key_kind(list[i]->key, list[i]->value, &row.service);
        if (row.kind == JAM_IS_CHAPTER && chapter_has_member(list[i]->key)) continue;
        /* This chapter belongs to the node, so it is shown under "keys". */
        if (row.kind == JAM_IS_CHAPTER) row.kind = JAM_IS_UNKNOWN;
        rows[n++] = row;
    }
    if (!list || !rows)
        all->failed = true;
    else
        qsort(rows, n, sizeof *rows, rows_by_service);
    free(list);
    *out = rows;
    return n;
}

bool penta_jam_state_write(penta_jam_state *state, penta_buffer *out, penta_error *err)
{
    struct writer w = {0};
    struct json j = {.out = &w};
    struct jam_layer all;
    struct row *rows;
    *err = (penta_error){0};
    jam_layer_init(&all, NULL);
    jam_layer_merge(&all, &state->base);
    jam_layer_merge(&all, &state->changes);
    size_t count = state_collect(&all, &rows), end;
    json_object(&j, NULL);
    json_text(&j, "schema", "penta.jam-state/1");
    json_text(&j, "version", state->host->version->name);
    jam_chain_write(&state->host->chain, &j);
    write_chapters(&j, state);
    json_list(&j, "accounts");
    for (size_t i = 0; i < count; i = end) {
        for (end = i + 1; end < count && rows[end].service == rows[i].service; end++) {
        }
        bool known = rows[i].kind == JAM_IS_RECORD;
        if (known) write_account(&j, rows + i, end - i);
        for (size_t k = i; k < end && !known; k++) rows[k].kind = JAM_IS_UNKNOWN;
    }
    json_end(&j);
    json_object(&j, "keys");
    for (size_t i = 0; i < count; i++)
        if (rows[i].kind == JAM_IS_UNKNOWN)
            hex_member(&j, (penta_bytes){rows[i].entry->key, JAM_KEY},
                       jam_value_bytes(rows[i].entry->value));
    json_finish(&j);
    if (all.failed || state->changes.failed)
        error_at(err, BASE_MEMORY, 0, "no memory for the state");
    state->changes.failed = false;
    free(rows);
    jam_layer_fini(&all);
    return writer_give(&w, !err->code, out, err);
}
