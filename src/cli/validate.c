/* The command validate prints every finding of each file. */
#include "base/bytes.h"
#include "base/sanitize.h"
#include "cli/cli.h"

static void validate_one(struct cli *c, const char *name)
{
    struct input in;
    if (!input_open(c, name, &in)) return;
    if (c->value[OPT_JSON]) {
        json_object(&c->json, NULL);
        json_text(&c->json, "file", name);
        json_uint(&c->json, "size", in.bytes.size);
        json_text(&c->json, "format", penta_module_format(in.module));
    }
    struct finding_sink sink;
    finding_sink_init(&sink, c, name);
    sink.module = in.module;
    bool valid = penta_validate(in.module, finding_sink_add, &sink);
    if (c->value[OPT_STRICT] && sink.warnings) valid = false;
    finding_sink_finish(&sink);
    if (c->value[OPT_JSON]) {
        json_bool(&c->json, "valid", valid);
        diagnostics_json(c);
        json_end(&c->json);
    } else if (valid && !c->value[OPT_QUIET]) {
        writer_safe(&c->out, bytes_of(name));
        writer_print(&c->out, ": valid %s\n", penta_module_format(in.module));
    }
    if (!valid) cli_fail(c, sink.exit > EXIT_NO ? sink.exit : EXIT_NO);
    input_close(&in);
}

void command_VALIDATE(struct cli *c)
{
    if (c->value[OPT_JSON]) json_list(&c->json, "files");
    for (size_t i = 0; i < c->word_count; i++) validate_one(c, c->words[i]);
    if (c->value[OPT_JSON]) json_end(&c->json);
}
