/* The command roundtrip proves for each file that encoding what was parsed, and assembling what
 * was disassembled, gives back its bytes. */
#include "base/bytes.h"
#include "base/sanitize.h"
#include "cli/cli.h"

static void roundtrip_one(struct cli *c, const char *name)
{
    struct input in;
    if (!input_open(c, name, &in)) return;
    penta_error err = {0};
    bool ok = penta_roundtrip(in.module, &err);
    if (!ok) {
        cli_error(c, name, &err);
        if (err.code == BASE_BUG) cli_fail(c, EXIT_NO);
    }
    if (c->value[OPT_JSON]) {
        json_object(&c->json, NULL);
        json_text(&c->json, "file", name);
        json_uint(&c->json, "size", in.bytes.size);
        json_text(&c->json, "format", penta_module_format(in.module));
        json_bool(&c->json, "identical", ok);
        json_end(&c->json);
    } else if (ok && !c->value[OPT_QUIET]) {
        writer_safe(&c->out, bytes_of(name));
        writer_print(&c->out, ": identical, %zu bytes\n", in.bytes.size);
    }
    input_close(&in);
}

void command_ROUNDTRIP(struct cli *c)
{
    if (c->value[OPT_JSON]) json_list(&c->json, "files");
    for (size_t i = 0; i < c->word_count; i++) roundtrip_one(c, c->words[i]);
    if (c->value[OPT_JSON]) json_end(&c->json);
}
