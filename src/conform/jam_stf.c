/* Runs state transition vectors of JAM: the accumulation of one block, with accounts as JSON. */
#include "base/bytes.h"
#include "conform/jam.h"
#include <string.h>

static void read_service(struct jam_case *c, penta_jam_state *state, uint32_t id,
                         const struct json_object *v)
{
    struct jam_json *j = &c->json;
    struct writer hash = {0};
    uint8_t key[JAM_KEY], record[100];
    struct jam_account a = {.balance = jam_json_uint(j, v, "balance", 64),
                            .min_gas = jam_json_uint(j, v, "min_item_gas", 64),
                            .min_memo_gas = jam_json_uint(j, v, "min_memo_gas", 64),
                            .octets = jam_json_uint(j, v, "bytes", 64),
                            .gratis = jam_json_uint(j, v, "deposit_offset", 64),
                            .items = (uint32_t)jam_json_uint(j, v, "items", 32),
                            .created = (uint32_t)jam_json_uint(j, v, "creation_slot", 32),
                            .last = (uint32_t)jam_json_uint(j, v, "last_accumulation_slot", 32),
                            .parent = (uint32_t)jam_json_uint(j, v, "parent_service", 32)};
    bool plain = c->host->version->plain_records;
    jam_json_hash(j, v, "code_hash", &hash);
    if (!c->err.code) {
        memcpy(a.code_hash, hash.out.data, JAM_HASH);
        penta_jam_account_key(id, key);
        penta_jam_state_set(state, key,
                            (penta_bytes){record, jam_account_encode(&a, plain, record)}, &c->err);
    }
    writer_free(&hash);
}

static void read_preimage(struct jam_case *c, penta_jam_state *state, uint32_t id,
                          const struct json_object *v)
{
    struct writer hash = {0}, blob = {0};
    uint8_t key[JAM_KEY];
    jam_json_hash(&c->json, v, "hash", &hash);
    jam_json_bytes(&c->json, json_get(v, "blob"), "blob", JAM_ANY_SIZE, &blob);
    if (!c->err.code) {
        penta_jam_preimage_key(id, hash.out.data, key);
        writer_char(&blob, 0); /* This gives an empty blob a pointer other than NULL. */
        penta_jam_state_set(state, key, (penta_bytes){blob.out.data, blob.out.size - 1}, &c->err);
    }
    writer_free(&hash);
    writer_free(&blob);
}

static void read_request(struct jam_case *c, penta_jam_state *state, uint32_t id,
                         const struct json_object *v)
{
    const struct json_object *k = json_get(v, "key"), *slots = json_get(v, "value");
    struct writer hash = {0}, value = {0};
    uint8_t key[JAM_KEY];
    jam_json_hash(&c->json, k, "hash", &hash);
    uint64_t length = jam_json_uint(&c->json, k, "length", 32);
    jam_put_nat(&value, json_length(slots));
    for (size_t i = 0; i < json_length(slots); i++) {
        uint64_t slot = 0;
        if (!json_as_uint(json_item(slots, i), &slot) || slot > UINT32_MAX)
            error_at(&c->err, BASE_JSON, 0, "value holds something else than a slot");
        writer_uint(&value, slot, 4);
    }
    if (!c->err.code) {
        penta_jam_request_key(id, hash.out.data, (uint32_t)length, key);
        penta_jam_state_set(state, key, writer_view(&value), &c->err);
    }
    writer_free(&hash);
    writer_free(&value);
}

static void read_storage(struct jam_case *c, penta_jam_state *state, uint32_t id,
                         const struct json_object *v)
{
    struct writer name = {0}, value = {0};
    jam_json_bytes(&c->json, json_get(v, "key"), "key", JAM_ANY_SIZE, &name);
    jam_json_bytes(&c->json, json_get(v, "value"), "value", JAM_ANY_SIZE, &value);
    if (!c->err.code)
        penta_jam_state_store(state, id, writer_view(&name), writer_view(&value), &c->err);
    writer_free(&name);
    writer_free(&value);
}

static void read_account(struct jam_case *c, penta_jam_state *state, const struct json_object *v)
{
    typedef void part(struct jam_case *, penta_jam_state *, uint32_t, const struct json_object *);
    static const struct {
        const char *key;
        part *read;
    } parts[] = {{"storage", read_storage},
                 {"preimage_blobs", read_preimage},
                 {"preimage_requests", read_request}};
    const struct json_object *data = json_get(v, "data");
    uint32_t id = (uint32_t)jam_json_uint(&c->json, v, "id", 32);
    read_service(c, state, id, json_get(data, "service"));
    for (unsigned p = 0; p < 3; p++) {
        const struct json_object *list = jam_json_list(&c->json, data, parts[p].key);
        for (size_t i = 0; i < json_length(list) && !c->err.code; i++) {
            size_t mark = jam_json_enter(&c->json, parts[p].key, i);
            parts[p].read(c, state, id, json_item(list, i));
            jam_json_leave(&c->json, mark);
        }
    }
}

static void read_state(struct jam_case *c, penta_jam_state *state, const struct json_object *v)
{
    struct writer w = {0};
    uint64_t slots = c->host->chain.epoch_length;
    const struct json_object *accounts = jam_json_list(&c->json, v, "accounts");
    jam_json_ready(&c->json, json_get(v, "ready_queue"), slots, &w);
    jam_case_chapter(c, state, JAM_READY, &w);
    jam_json_accumulated(&c->json, json_get(v, "accumulated"), slots, &w);
    jam_case_chapter(c, state, JAM_ACCUMULATED, &w);
    jam_json_privileges(&c->json, json_get(v, "privileges"), c->host, &w);
    jam_case_chapter(c, state, JAM_PRIVILEGES, &w);
    for (size_t i = 0; i < json_length(accounts) && !c->err.code; i++) {
        size_t mark = jam_json_enter(&c->json, "accounts", i);
        read_account(c, state, json_item(accounts, i));
        jam_json_leave(&c->json, mark);
    }
}

/* Compares the root of the outputs. The vectors have no chapter of outputs, only this root. */
static void compare_root(struct jam_case *c, const struct json_object *output)
{
    uint8_t key[JAM_KEY];
    penta_bytes outputs;
    struct writer w = {0};
    penta_jam_key(JAM_OUTPUTS, key);
    if (penta_jam_state_get(c->state, key, &outputs))
        penta_jam_state_set(c->expected, key, outputs, &c->err);
    penta_jam_state_commit(c->expected, &c->err);
    jam_json_hash(&c->json, output, "ok", &w);
    if (!c->err.code && memcmp(w.out.data, c->outcome.root, JAM_HASH)) {
        jam_case_bytes(c->want, writer_view(&w));
        jam_case_bytes(c->got, (penta_bytes){c->outcome.root, JAM_HASH});
        jam_case_differs(c, "root of the outputs");
    }
    writer_free(&w);
}

static void compare_statistics(struct jam_case *c, const struct json_object *list)
{
    for (size_t i = 0; i < json_length(list) && !c->trial.judged; i++) {
        const struct json_object *v = json_item(list, i), *record = json_get(v, "record");
        uint64_t id = jam_json_uint(&c->json, v, "id", 32);
        jam_case_gas(c, (uint32_t)id, jam_json_uint(&c->json, record, "accumulate_count", 32),
                     jam_json_uint(&c->json, record, "accumulate_gas_used", 64));
    }
    if (!c->trial.judged) jam_case_count(c, json_length(list));
}

static bool stf_matches(const struct json_object *root)
{
    const struct json_object *pre = json_get(root, "pre_state");
    return json_has(json_get(root, "input"), "reports") && json_has(pre, "ready_queue") &&
           json_has(pre, "accounts") && json_has(root, "post_state");
}

static void stf_run(struct conform *conform, const struct json_object *root)
{
    const struct json_object *pre = json_get(root, "pre_state"), *input = json_get(root, "input");
    const struct json_object *post = json_get(root, "post_state");
    size_t slots = json_length(json_get(pre, "ready_queue"));
    struct jam_case c;
    if (jam_case_open(&c, conform, root, slots == 12 ? "tiny" : "full")) {
        jam_case_block(&c, jam_json_uint(&c.json, input, "slot", 32), json_get(pre, "entropy"));
        jam_case_reports(&c, jam_json_list(&c.json, input, "reports"));
        size_t mark = jam_json_enter(&c.json, "pre_state", JAM_NO_INDEX);
        read_state(&c, c.state, pre);
        jam_json_leave(&c.json, mark);
        jam_case_prior_slot(&c, jam_json_uint(&c.json, pre, "slot", 32));
        jam_json_enter(&c.json, "post_state", JAM_NO_INDEX);
        read_state(&c, c.expected, post);
        jam_json_leave(&c.json, mark);
        if (jam_case_run(&c)) {
            compare_statistics(&c, json_get(post, "statistics"));
            compare_root(&c, json_get(root, "output"));
            jam_case_states(&c);
        }
    }
    jam_case_close(&c);
}

DOCUMENT_FORM(jam_stf, stf_matches, stf_run)
