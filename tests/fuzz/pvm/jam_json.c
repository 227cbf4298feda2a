/* Reads any bytes as JSON documents of the JAM host. Nothing may crash or use memory out of
 * proportion, and every error must have a message. A state that was read can be written and read
 * again without a difference. A block runs, or is refused and changes nothing.
 *
 *     byte 0     kind of document: state, block, chain, package or items; bit 7: another version
 *     the rest   the document */
#include "fuzz.h"
#include "pvm/host/jam_json/json.h"

enum kind { STATE, BLOCK, CHAIN, PACKAGE, ITEMS, KINDS };

static const char start_text[] =
    "{\"slot\":49,\"privileges\":{\"bless\":7,\"assign\":[7,8]},\"accounts\":["
    "{\"id\":7,\"balance\":100000,\"storage\":{\"6b\":\"01\"},\"preimages\":[\"01020304\"],"
    "\"requests\":[{\"hash\":\"28517e4cdf6c90798c1a983b03727ca7743c21a3880672429ccfc5bd15ea5f72\","
    "\"length\":4,\"slots\":[40]}]}]}";

static penta_bytes jam_json_view(const penta_buffer *b) { return (penta_bytes){b->data, b->size}; }

static void check_error(const penta_error *err) { CHECK(err->code && err->message[0]); }

static penta_jam_host *open_host(bool old)
{
    penta_error err;
    penta_option options[] = {
        {"chain", "tiny"}, {"engine", "interp"}, {"version", old ? "0.7.0" : "0.7.2"}};
    penta_jam_host *host = penta_jam_host_new((penta_bytes){0}, options, 3, &err);
    CHECK(host);
    return host;
}

/* Reads, writes, reads and writes the state again, with the host that the document names. */
static void try_state(penta_bytes text)
{
    penta_error err;
    penta_buffer first = {0}, second = {0};
    penta_jam_host *host = penta_jam_host_new(text, NULL, 0, &err);
    if (!host) {
        check_error(&err);
        return;
    }
    penta_jam_state *state = penta_jam_state_new(host, NULL, &err);
    penta_jam_state *again = penta_jam_state_new(host, NULL, &err);
    if (!penta_jam_state_read(state, text, NULL, &err)) {
        check_error(&err);
    } else {
        CHECK(penta_jam_state_write(state, &first, &err));
        CHECK(penta_jam_state_read(again, jam_json_view(&first), NULL, &err));
        CHECK(penta_jam_state_write(again, &second, &err));
        CHECK(bytes_equal(jam_json_view(&first), jam_json_view(&second)));
    }
    penta_buffer_free(&first);
    penta_buffer_free(&second);
    penta_jam_state_free(again);
    penta_jam_state_free(state);
    penta_jam_host_free(host);
}

static void count_change(void *user, const uint8_t *key, penta_bytes name,
                         const penta_bytes *before, const penta_bytes *now)
{
    (void)key, (void)name, (void)before, (void)now;
    ++*(unsigned *)user;
}

static void try_block(penta_bytes text, bool old)
{
    penta_error err;
    unsigned changes = 0;
    penta_jam_outcome outcome = {0};
    penta_jam_host *host = open_host(old);
    penta_jam_state *state = penta_jam_state_new(host, NULL, &err);
    CHECK(penta_jam_state_read(state, bytes_of(start_text), NULL, &err));
    CHECK(penta_jam_state_commit(state, &err));
    if (!penta_jam_block_json(host, state, text, NULL, &outcome, &err)) {
        check_error(&err);
        penta_jam_state_changes(state, count_change, &changes);
        CHECK(!changes);
    }
    penta_jam_outcome_free(&outcome);
    penta_jam_state_free(state);
    penta_jam_host_free(host);
}

static void try_chain(const uint8_t *data, size_t size)
{
    penta_error err = {0};
    struct jam_chain chain;
    char *text = copy_as_text(data, size);
    if (jam_chain_read(text, &chain, &err))
        CHECK(chain.cores && chain.epoch_length);
    else
        check_error(&err);
    free(text);
}

/* Checks that a package that was read has the encoded form that programs get. */
static void try_package(const struct json_object *root, struct jam_json *j)
{
    struct writer bytes = {0};
    struct jam_work_package package = {0};
    const struct json_object *inner = json_get(root, "package");
    bool encoded = json_is_text(inner ? inner : root);
    jam_json_package(j, inner ? inner : root, &bytes);
    if (!j->err->code && !jam_package_read(writer_view(&bytes), &package, j->err))
        CHECK(encoded || bytes.failed);
    jam_package_free(&package);
    writer_free(&bytes);
}

static void try_items(const struct json_object *root, struct jam_json *j, bool old)
{
    penta_jam_host *host = open_host(old);
    struct writer bytes = {0};
    for (size_t i = 0; i < json_length(root) && !j->err->code; i++) {
        size_t mark = jam_json_enter(j, "", i);
        jam_json_item(j, json_item(root, i), host, &bytes);
        jam_json_leave(j, mark);
    }
    writer_free(&bytes);
    penta_jam_host_free(host);
}

void fuzz_one(const uint8_t *data, size_t size)
{
    if (!size || size > 1 << 16) return;
    penta_bytes text = {data + 1, size - 1};
    enum kind kind = (data[0] & 0x7f) % KINDS;
    bool old = data[0] & 0x80;
    if (kind == STATE) try_state(text);
    if (kind == BLOCK) try_block(text, old);
    if (kind == CHAIN) try_chain(text.data, text.size);
    if (kind < PACKAGE) return;
    penta_error err = {0};
    struct jam_json j = {.err = &err};
    struct json_doc *doc = json_parse(text, &err);
    if (doc && kind == PACKAGE) try_package(json_root(doc), &j);
    if (doc && kind == ITEMS) try_items(json_root(doc), &j, old);
    if (err.code) check_error(&err);
    jam_json_done(&j);
    json_doc_free(doc);
}
