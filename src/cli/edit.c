/* The command edit changes fields of a file, and shows the result as differences and findings. */
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "cli/output.h"
#include "penta/edit.h"

/* Says where the result goes: to the file of -o, over the input, or nowhere. */
static bool edit_has_target(struct cli *c)
{
    bool output = c->value[OPT_OUTPUT], in_place = c->value[OPT_IN_PLACE];
    bool dry = c->value[OPT_DRY_RUN];
    if (output + in_place + dry > 1)
        cli_usage(c, NULL, "-o, --in-place and --dry-run exclude each other");
    else if (!output && !in_place && !dry)
        cli_usage(c, NULL, "penta edit needs -o FILE, --in-place or --dry-run");
    else if (in_place && !strcmp(c->words[0], "-"))
        cli_usage(c, "-o FILE", "standard input cannot be edited in place");
    else if (!c->repeated_count)
        cli_usage(c, NULL, "penta edit needs --set PATH=VALUE");
    return !c->exit;
}

/* Takes the option --set apart: PATH=VALUE. The caller frees the list and its first key, which holds all texts. */
static penta_option *edit_changes(struct cli *c, penta_error *err)
{
    size_t size = 1;
    for (size_t i = 0; i < c->repeated_count; i++) size += strlen(c->repeated[i]) + 1;
    penta_option *changes = calloc(c->repeated_count, sizeof *changes);
    char *text = changes ? malloc(size) : NULL;
    if (!text) error_at(err, BASE_MEMORY, 0, "no memory for the changes");
    for (size_t i = 0; text && i < c->repeated_count; i++) {
        size_t length = strlen(c->repeated[i]) + 1;
        memcpy(text, c->repeated[i], length);
        char *equals = strchr(text, '=');
        if (!equals) {
            error_at(err, BASE_OPTION_VALUE, 0, "option 'set': '%.40s' is not PATH=VALUE", text);
            break;
        }
        *equals = 0;
        changes[i] = (penta_option){text, equals + 1};
        text += length;
    }
    return changes;
}

/* Tells how the new file differs from the old one. */
static void edit_differences(struct cli *c, const struct input *in, const penta_module *made)
{
    penta_option json = {"json", "1"};
    penta_buffer text = {0};
    penta_error err;
    bool as_json = c->value[OPT_JSON];
    if (!penta_diff(in->module, made, &json, as_json, &text, NULL, &err)) {
        cli_error(c, in->name, &err);
    } else if (as_json) {
        json_raw(&c->json, "changes", (penta_bytes){text.data, text.size});
    } else if (!c->value[OPT_QUIET]) {
        penta_bytes bytes = {text.data, text.size};
        if (c->value[OPT_DRY_RUN])
            writer_bytes(&c->out, bytes.data, bytes.size);
        else
            cli_stderr(c, bytes);
    }
    penta_buffer_free(&text);
}

/* Checks the new file and writes it. A file with errors is written, too: it may be what was wanted. */
static void edit_result(struct cli *c, const struct input *in, const penta_buffer *out)
{
    struct finding_sink sink;
    finding_sink_init(&sink, c, in->name);
    penta_bytes bytes = {out->data, out->size};
    penta_error err = {0};
    const char *format = penta_module_format(in->module);
    size_t count = 0;
    penta_option *options = options_for(c, format, OPTION_OPEN, &count);
    penta_module *made = penta_open(bytes, format, options, count, &err);
    free(options);
    bool valid = false;
    if (made) {
        edit_differences(c, in, made);
        sink.module = made;
        valid = penta_validate(made, finding_sink_add, &sink);
    } else {
        finding_sink_add(&sink, &err);
    }
    finding_sink_finish(&sink);
    if (c->value[OPT_JSON]) json_bool(&c->json, "valid", valid);
    penta_close(made);
    if (!valid) cli_fail(c, sink.exit > EXIT_NO ? sink.exit : EXIT_NO);
    if (c->value[OPT_OUTPUT])
        cli_bytes(c, bytes);
    else if (c->value[OPT_IN_PLACE] && output_rewrite(c, c->words[0], bytes) && c->value[OPT_JSON])
        json_text(&c->json, "output", c->words[0]);
}

void command_EDIT(struct cli *c)
{
    struct input in;
    penta_error err = {0};
    penta_buffer out = {0};
    penta_option no_repair = {"no-repair", "1"};
    if (!input_open(c, c->words[0], &in)) return;
    if (!edit_has_target(c)) {
        input_close(&in);
        return;
    }
    struct finding_sink dropped;
    finding_sink_init(&dropped, c, in.name);
    dropped.module = in.module;
    if (c->value[OPT_JSON]) json_text(&c->json, "file", in.name);
    penta_option *changes = edit_changes(c, &err);
    if (!err.code &&
        penta_edit(in.module, changes, c->repeated_count, &no_repair,
                   c->value[OPT_NO_REPAIR] != NULL, &out, finding_sink_add, &dropped, &err)) {
        finding_sink_tell(&dropped);
        edit_result(c, &in, &out);
    }
    if (err.code) cli_error(c, err.code == BASE_FIELD_VALUE ? in.name : NULL, &err);
    if (changes) free((char *)(uintptr_t)changes[0].key);
    free(changes);
    finding_sink_drop(&dropped);
    penta_buffer_free(&out);
    input_close(&in);
}
