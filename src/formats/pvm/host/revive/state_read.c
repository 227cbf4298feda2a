/* Reads a chain from JSON (CONTRACT 2.2). An unknown member is an error, because it may be
 * misspelt. */
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/file/file.h"
#include "base/json/json_read.h"
#include "pvm/host/revive/revive.h"

struct loading {
    struct pvm_revive *r;
    struct account *account; /* the account that is read now */
    enum storage_kind kind;
    penta_error *err;
};

static void state_read_bad(struct loading *l, const char *name, const char *wanted)
{
    error_at(l->err, BASE_SYNTAX, 0, "state: '%.50s' is not %s", name, wanted);
}

static void state_read_unknown(struct loading *l, const char *where, const char *name)
{
    error_at(l->err, BASE_SYNTAX, 0, "state: %s has no member '%.50s'", where, name);
}

static penta_bytes value_text(const struct json_object *v)
{
    const char *text = json_as_text(v);
    return text ? (penta_bytes){(const uint8_t *)text, json_text_size(v)} : (penta_bytes){0};
}

static void read_number(struct loading *l, const char *name, const struct json_object *v,
                        struct u256 *out)
{
    uint64_t small;
    if (json_is_int(v) && json_as_uint(v, &small))
        *out = revive_u256_of(small);
    else if (!json_is_text(v) || !revive_u256_parse(value_text(v), out))
        state_read_bad(l, name, "a number below 2^256");
}

static void read_uint(struct loading *l, const char *name, const struct json_object *v,
                      uint64_t *out)
{
    if (!json_as_uint(v, out)) state_read_bad(l, name, "a number below 2^64");
}

static void read_address(struct loading *l, const char *name, const struct json_object *v,
                         uint8_t *out)
{
    if (!json_is_text(v) || !revive_address_parse(value_text(v), out))
        state_read_bad(l, name, "20 bytes in hex");
}

static bool hex_read(penta_bytes text, struct blob *out)
{
    const bool prefix = text.size >= 2 && text.data[0] == '0' && text.data[1] == 'x';
    size_t skip = prefix ? 2 : 0, digits = text.size - skip;
    *out = (struct blob){0};
    if (digits % 2) return false;
    out->data = malloc(digits / 2 + 1);
    if (!out->data) return false;
    for (size_t i = skip; i < text.size; i += 2) {
        int high = hex_digit(text.data[i]), low = hex_digit(text.data[i + 1]);
        if (high < 0 || low < 0) {
            free(out->data);
            return false;
        }
        out->data[out->size++] = (uint8_t)(high << 4 | low);
    }
    return true;
}

static bool read_hex(struct loading *l, const char *name, const struct json_object *v, size_t most,
                     struct blob *out)
{
    if (json_is_text(v) && hex_read(value_text(v), out)) {
        if (out->size <= most) return true;
        free(out->data);
    }
    state_read_bad(l, name, "bytes in hex, or too long");
    return false;
}

static void read_block(void *user, const char *name, const struct json_object *v)
{
    struct loading *l = user;
    struct block *b = &l->r->block;
    if (!strcmp(name, "number"))
        read_number(l, name, v, &b->number);
    else if (!strcmp(name, "time"))
        read_number(l, name, v, &b->time);
    else if (!strcmp(name, "chain_id"))
        read_number(l, name, v, &b->chain_id);
    else if (!strcmp(name, "base_fee"))
        read_number(l, name, v, &b->base_fee);
    else if (!strcmp(name, "gas_price"))
        read_uint(l, name, v, &b->gas_price);
    else if (!strcmp(name, "gas_limit"))
        read_uint(l, name, v, &b->gas_limit);
    else if (!strcmp(name, "author"))
        read_address(l, name, v, b->author);
    else
        state_read_unknown(l, "block", name);
}

static void read_code(void *user, const char *name, const struct json_object *v)
{
    struct loading *l = user;
    struct blob hash = {0}, bytes = {0};
    if (l->err->code || !read_hex(l, name, v, SIZE_MAX, &bytes)) return;
    penta_buffer buffer = {bytes.data, bytes.size, bytes.size + 1};
    const struct code *c = revive_code_upload(l->r, &buffer, l->err);
    bool same = c && hex_read(bytes_of(name), &hash) && hash.size == HASH &&
                !memcmp(hash.data, revive_code_hash(c), HASH);
    if (c && !same) state_read_bad(l, name, "the Keccak-256 of its code");
    free(hash.data);
}

static void read_slot(void *user, const char *name, const struct json_object *v)
{
    struct loading *l = user;
    struct blob key = {0}, value = {0};
    bool word = l->kind == STORAGE_WORDS;
    if (l->err->code || !read_hex(l, name, v, VALUE_BYTES_MAX, &value)) return;
    if (!hex_read(bytes_of(name), &key) || (word ? key.size != HASH : key.size > KEY_BYTES_MAX))
        state_read_bad(l, name, word ? "a key of 32 bytes in hex" : "a key in hex");
    else if (!revive_chain_store(&l->r->chain, revive_account_address(l->account), l->kind, &key,
                                 &value))
        *l->err = l->r->chain.failure;
    free(key.data);
    free(value.data);
}

static void read_account_code(struct loading *l, const char *name, const struct json_object *v)
{
    struct blob hash;
    struct account_state *is = &l->account->is;
    if (!read_hex(l, name, v, HASH, &hash)) return;
    is->code = hash.size == HASH ? revive_code_find(l->r, hash.data) : NULL;
    is->contract = true;
    if (!is->code) state_read_bad(l, name, "the hash of one of 'codes'");
    free(hash.data);
}

static void read_immutable(struct loading *l, const char *name, const struct json_object *v)
{
    free(l->account->immutable.data);
    l->account->immutable = (struct blob){0};
    read_hex(l, name, v, IMMUTABLE_BYTES_MAX, &l->account->immutable);
    if (l->err->code) l->account->immutable = (struct blob){0};
}

static void read_storage(struct loading *l, const char *name, const struct json_object *v,
                         enum storage_kind kind)
{
    l->kind = kind;
    if (json_is_object(v))
        json_each(v, read_slot, l);
    else
        state_read_bad(l, name, "an object");
}

static void read_member(void *user, const char *name, const struct json_object *v)
{
    struct loading *l = user;
    struct account *a = l->account;
    if (l->err->code) return;
    if (!strcmp(name, "balance"))
        read_number(l, name, v, &a->is.balance);
    else if (!strcmp(name, "unlimited"))
        a->counted = !json_as_bool(v);
    else if (!strcmp(name, "nonce"))
        read_uint(l, name, v, &a->is.nonce);
    else if (!strcmp(name, "code"))
        read_account_code(l, name, v);
    else if (!strcmp(name, "immutable"))
        read_immutable(l, name, v);
    else if (!strcmp(name, "storage"))
        read_storage(l, name, v, STORAGE_WORDS);
    else if (!strcmp(name, "sized_storage"))
        read_storage(l, name, v, STORAGE_SIZED);
    else
        state_read_unknown(l, "an account", name);
}

static void read_account(void *user, const char *name, const struct json_object *v)
{
    struct loading *l = user;
    uint8_t address[ADDRESS];
    if (l->err->code) return;
    if (!revive_address_parse(bytes_of(name), address) || !json_is_object(v)) {
        state_read_bad(l, name, "an address with an object");
        return;
    }
    l->account = revive_chain_account(&l->r->chain, address);
    if (!l->account) {
        *l->err = l->r->chain.failure;
        return;
    }
    l->account->counted = true;
    json_each(v, read_member, l);
}

static void check_top(void *user, const char *name, const struct json_object *v)
{
    struct loading *l = user;
    if (strcmp(name, "block") && strcmp(name, "accounts") && strcmp(name, "codes"))
        state_read_unknown(l, "it", name);
    else if (!json_is_object(v))
        state_read_bad(l, name, "an object");
}

bool revive_state_read(struct pvm_revive *r, const char *path, penta_error *err)
{
    penta_buffer text = {0};
    if (!file_read(path, UINT64_C(1) << 30, &text, err)) return false;
    struct json_doc *doc = json_parse((penta_bytes){text.data, text.size}, err);
    struct loading l = {.r = r, .err = err};
    const struct json_object *root = doc ? json_root(doc) : NULL;
    if (doc && !json_is_object(root)) state_read_bad(&l, path, "an object");
    if (doc && !err->code) json_each(root, check_top, &l);
    if (doc && !err->code) json_each(json_get(root, "block"), read_block, &l);
    if (doc && !err->code) json_each(json_get(root, "codes"), read_code, &l);
    if (doc && !err->code) json_each(json_get(root, "accounts"), read_account, &l);
    if (doc) json_doc_free(doc);
    penta_buffer_free(&text);
    return !err->code || error_note(err, "in %.100s", path);
}
