/* Writes the chain as JSON, with the members of CONTRACT 2.2. Everything is sorted by key, so
 * that equal chains give equal files. */
#include <stdlib.h>
#include <string.h>
#include "base/json/json_write.h"
#include "pvm/host/revive/revive.h"

static void hex_text(penta_bytes bytes, struct writer *out)
{
    out->out.size = 0;
    writer_text(out, "0x");
    writer_hex(out, bytes);
    writer_char(out, 0);
}

struct view {
    const struct pvm_revive *r;
    struct json json;
    struct writer key, value; /* the text of the member that is written now */
};

static void write_hex(struct view *v, const char *name, const void *bytes, size_t size)
{
    hex_text((penta_bytes){bytes, size}, &v->value);
    if (!v->value.failed) json_text(&v->json, name, (const char *)v->value.out.data);
}

static const char *member_key(struct view *v, const void *bytes, size_t size)
{
    hex_text((penta_bytes){bytes, size}, &v->key);
    return v->key.failed ? "" : (const char *)v->key.out.data;
}

static void write_number(struct view *v, const char *name, const struct u256 *n)
{
    char text[U256_DIGITS];
    revive_u256_print(n, text);
    if (revive_u256_fits(n))
        json_uint(&v->json, name, n->w[0]);
    else
        json_text(&v->json, name, text);
}

static void write_block(struct view *v)
{
    const struct block *b = &v->r->block;
    json_object(&v->json, "block");
    write_number(v, "number", &b->number);
    write_number(v, "time", &b->time);
    write_number(v, "chain_id", &b->chain_id);
    write_number(v, "base_fee", &b->base_fee);
    json_uint(&v->json, "gas_price", b->gas_price);
    json_uint(&v->json, "gas_limit", b->gas_limit);
    write_hex(v, "author", b->author, ADDRESS);
    json_end(&v->json);
}

static void write_storage(struct view *v, const struct account *a, struct table_entry **slots,
                          enum storage_kind kind, const char *name)
{
    bool open = false;
    for (size_t i = 0; slots && i < v->r->chain.slots.count; i++) {
        const struct slot *s = (const struct slot *)slots[i];
        const uint8_t *key = s->entry.key;
        if (!s->present || key[ADDRESS] != kind || memcmp(key, a->entry.key, ADDRESS)) continue;
        if (!open) json_object(&v->json, name);
        open = true;
        member_key(v, key + ADDRESS + 1, s->entry.key_size - ADDRESS - 1);
        write_hex(v, (const char *)v->key.out.data, s->value.data, s->value.size);
    }
    if (open) json_end(&v->json);
}

static void write_account(struct view *v, const struct account *a, struct table_entry **slots)
{
    json_object(&v->json, member_key(v, a->entry.key, ADDRESS));
    write_number(v, "balance", &a->is.balance);
    if (!a->counted && !a->is.contract) json_bool(&v->json, "unlimited", true);
    json_uint(&v->json, "nonce", a->is.nonce);
    if (a->is.code) write_hex(v, "code", revive_code_hash(a->is.code), HASH);
    if (a->immutable.size) write_hex(v, "immutable", a->immutable.data, a->immutable.size);
    write_storage(v, a, slots, STORAGE_WORDS, "storage");
    write_storage(v, a, slots, STORAGE_SIZED, "sized_storage");
    json_end(&v->json);
}

bool revive_state_write(const struct pvm_revive *r, struct writer *out, penta_error *err)
{
    struct view v = {.r = r, .json = {.out = out}};
    struct table_entry **accounts = revive_table_sorted(&r->chain.accounts);
    struct table_entry **slots = revive_table_sorted(&r->chain.slots);
    struct table_entry **codes = revive_table_sorted(&r->codes);
    if ((!accounts && r->chain.accounts.count) || (!slots && r->chain.slots.count) || !codes)
        out->failed = true;
    json_object(&v.json, NULL);
    write_block(&v);
    json_object(&v.json, "accounts");
    for (size_t i = 0; accounts && i < r->chain.accounts.count; i++) {
        const struct account *a = (const struct account *)accounts[i];
        if (revive_account_exists(a)) write_account(&v, a, slots);
    }
    json_end(&v.json);
    json_object(&v.json, "codes");
    for (size_t i = 0; codes && i < r->codes.count; i++) {
        const struct code *c = (const struct code *)codes[i];
        member_key(&v, revive_code_hash(c), HASH);
        write_hex(&v, (const char *)v.key.out.data, c->bytes.data, c->bytes.size);
    }
    json_finish(&v.json);
    out->failed = out->failed || v.key.failed || v.value.failed;
    writer_free(&v.key);
    writer_free(&v.value);
    free(accounts);
    free(slots);
    free(codes);
    return writer_ok(out, err);
}
