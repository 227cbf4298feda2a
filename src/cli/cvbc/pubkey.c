#include <string.h>
#include "cli/cli.h"
#include "cvbc/cvbc.h"

static void c_array(struct writer *out, const struct public_key *key)
{
    writer_print(out, "static const unsigned char public_key[%zu] = { /* %s */", key->size,
                 key_type_name(key->type));
    for (size_t i = 0; i < key->size; i++)
        writer_print(out, "%s0x%02x,", i % 12 ? " " : "\n    ", key->bytes[i]);
    writer_text(out, "\n};\n");
}

void command_PUBKEY(struct cli *c)
{
    const char *form = c->value[OPT_FORM] ? c->value[OPT_FORM] : "pem";
    struct public_key key;
    penta_error err = {0};
    if (!cvbc_public_key_file(c->words[0], &key, &err)) {
        cli_error(c, c->words[0], &err);
        return;
    }
    uint8_t print[32];
    penta_bytes raw = {key.bytes, key.size};
    key_fingerprint(&key, print);
    struct writer text = {0};
    if (!strcmp(form, "pem")) {
        key_public_pem(&key, &text);
    } else if (!strcmp(form, "raw")) {
        writer_hex(&text, raw);
        writer_char(&text, '\n');
    } else {
        c_array(&text, &key);
    }
    if (c->value[OPT_JSON]) {
        json_text(&c->json, "type", key_type_name(key.type));
        json_hex(&c->json, "key", raw);
        json_hex(&c->json, "fingerprint", (penta_bytes){print, sizeof print});
    }
    cli_text_file(c, writer_view(&text));
    writer_free(&text);
}
