/* The command pubkey writes the public half of a key: as PEM, as raw bytes, or as an array in C. */
#include <string.h>
#include "base/file/file.h"
#include "cli/cvbc/container.h"

enum { KEY_FILE_MAX = 64 << 10 };

static void c_array(struct writer *out, const penta_cvbc_key *key, const char *type)
{
    writer_print(out, "static const unsigned char public_key[%u] = { /* %s */", (unsigned)key->size,
                 type);
    for (size_t i = 0; i < key->size; i++)
        writer_print(out, "%s0x%02x,", i % 12 ? " " : "\n    ", key->raw[i]);
    writer_text(out, "\n};\n");
}

static void pubkey_tell(struct cli *c, const penta_cvbc_key *key, penta_bytes pem)
{
    const char *type = penta_cvbc_key_name(key->type);
    penta_bytes raw = {key->raw, key->size};
    struct writer text = {0};
    if (!c->value[OPT_FORM] || cli_is(c, OPT_FORM, "pem")) {
        writer_bytes(&text, pem.data, pem.size);
    } else if (cli_is(c, OPT_FORM, "raw")) {
        writer_hex(&text, raw);
        writer_char(&text, '\n');
    } else {
        c_array(&text, key, type);
    }
    if (c->value[OPT_JSON]) {
        json_text(&c->json, "type", type);
        json_hex(&c->json, "key", raw);
        json_hex(&c->json, "fingerprint", (penta_bytes){key->fingerprint, sizeof key->fingerprint});
    }
    cli_text_file(c, writer_view(&text));
    writer_free(&text);
}

void command_PUBKEY(struct cli *c)
{
    penta_cvbc_key key;
    penta_error err = {0};
    penta_buffer file = {0}, pem = {0};
    if (file_read(c->words[0], KEY_FILE_MAX, &file, &err) &&
        penta_cvbc_key_read((penta_bytes){file.data, file.size}, &key, &err) &&
        penta_cvbc_key_public((penta_bytes){file.data, file.size}, &pem, &err)) {
        pubkey_tell(c, &key, (penta_bytes){pem.data, pem.size});
    } else {
        if (is_rule(&err, "KEY")) error_note(&err, "in '%.80s'", c->words[0]);
        cli_error(c, c->words[0], &err);
    }
    penta_cvbc_wipe(&file); /* The file may be a private key. */
    penta_buffer_free(&pem);
}
