/* info, inspect and hex: three views of one walk. */
#include "base/bytes.h"
#include "base/sanitize.h"
#include "cli/cli.h"

void command_INFO(struct cli *c)
{
    struct input in;
    if (!input_open(c, c->words[0], &in)) return;
    const penta_error *damage = penta_module_damage(in.module);
    if (c->value[OPT_JSON]) {
        struct state_json_view view = {.json = &c->json};
        penta_visitor visitor = state_json_visitor(&view);
        json_text(&c->json, "file", in.name);
        json_uint(&c->json, "size", in.bytes.size);
        json_text(&c->json, "format", penta_module_format(in.module));
        json_bool(&c->json, "damaged", damage != NULL);
        json_object(&c->json, "info");
        penta_info(in.module, &visitor);
        json_end(&c->json);
    } else {
        enum { ITEMS = 16 }; /* one screen */
        struct state_view view = {
            .out = &c->out, .palette = cli_palette(c), .items_max = c->value[OPT_ALL] ? 0 : ITEMS};
        penta_visitor visitor = state_visitor(&view);
        writer_safe(&c->out, bytes_of(in.name));
        writer_print(&c->out, ": %s, %zu bytes\n", in.module->driver->title, in.bytes.size);
        penta_info(in.module, &visitor);
    }
    if (damage) {
        penta_error err = *damage;
        cli_error(c, in.name, &err);
    }
    input_close(&in);
}

/* Walks the module with the view, or only its selected part. */
static void walk(struct cli *c, const penta_module *module, penta_visitor view)
{
    if (!c->value[OPT_SELECT]) {
        penta_describe(module, &view);
        return;
    }
    struct select_view select = {.wanted = c->value[OPT_SELECT], .next = view};
    penta_visitor visitor = select_visitor(&select);
    penta_describe(module, &visitor);
    if (!select.found)
        cli_usage(c, "penta inspect FILE shows all paths", "no part is called '%.60s'",
                  c->value[OPT_SELECT]);
    select_free(&select);
}

void command_INSPECT(struct cli *c)
{
    struct input in;
    if (!input_open(c, c->words[0], &in)) return;
    if (c->value[OPT_JSON]) {
        struct tree_json_view view = {&c->json};
        c->document_is_result = true;
        json_text(&c->json, "file", in.name);
        json_uint(&c->json, "size", in.bytes.size);
        json_text(&c->json, "format", penta_module_format(in.module));
        json_bool(&c->json, "damaged", penta_module_damage(in.module) != NULL);
        json_list(&c->json, "tree");
        walk(c, in.module, tree_json_visitor(&view));
        json_end(&c->json);
    } else {
        struct tree_view view = {.out = &c->out, .palette = cli_palette(c)};
        walk(c, in.module, tree_visitor(&view));
    }
    input_close(&in);
}

void command_HEX(struct cli *c)
{
    struct input in;
    if (!input_open(c, c->words[0], &in)) return;
    if (c->value[OPT_JSON]) { /* the same tree; the bytes as one hex string */
        struct tree_json_view view = {&c->json};
        c->document_is_result = true;
        json_text(&c->json, "file", in.name);
        json_uint(&c->json, "size", in.bytes.size);
        json_hex(&c->json, "bytes", input_bytes(&in));
        json_list(&c->json, "tree");
        walk(c, in.module, tree_json_visitor(&view));
        json_end(&c->json);
    } else {
        struct hex_view view = {
            .out = &c->out, .palette = cli_palette(c), .file = input_bytes(&in)};
        if (c->value[OPT_COVERAGE] && !in.module->driver->protection) {
            cli_usage(c, NULL, "%s files have nothing that protects them", in.module->driver->name);
            input_close(&in);
            return;
        }
        if (c->value[OPT_COVERAGE]) view.protection = in.module->driver->protection;
        view.module = in.module;
        walk(c, in.module, hex_visitor(&view));
    }
    input_close(&in);
}
