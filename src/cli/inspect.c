/* The commands info, inspect and hex, which are three views of one walk over the file. */
#include "base/bytes.h"
#include "base/sanitize.h"
#include "cli/cli.h"

static void about_file(struct cli *c, const struct input *in)
{
    c->document_is_result = true;
    json_text(&c->json, "file", in->name);
    json_uint(&c->json, "size", in->bytes.size);
}

void command_INFO(struct cli *c)
{
    struct input in;
    if (!input_open(c, c->words[0], &in)) return;
    const char *format = penta_module_format(in.module);
    const penta_error *damage = penta_module_damage(in.module);
    if (c->value[OPT_JSON]) {
        penta_visitor visitor = json_state_visitor(&c->json);
        json_text(&c->json, "file", in.name);
        json_uint(&c->json, "size", in.bytes.size);
        json_text(&c->json, "format", format);
        json_bool(&c->json, "damaged", damage != NULL);
        json_object(&c->json, "info");
        penta_info(in.module, &visitor);
        json_end(&c->json);
    } else {
        /* 16 items fit on one screen. */
        penta_option options[2] = {{"items", c->value[OPT_ALL] ? "0" : "16"}};
        size_t count = 1 + cli_colors(c, options + 1);
        penta_buffer text = {0};
        penta_error err;
        writer_safe(&c->out, bytes_of(in.name));
        writer_print(&c->out, ": %s, %zu bytes\n", penta_format_title(format), in.bytes.size);
        if (!penta_info_text(in.module, options, count, &text, &err)) cli_error(c, in.name, &err);
        writer_bytes(&c->out, text.data, text.size);
        penta_buffer_free(&text);
    }
    if (damage) {
        penta_error err = *damage;
        cli_error(c, in.name, &err);
    }
    input_close(&in);
}

static void show_piece(void *user, penta_bytes piece)
{
    struct cli *c = user;
    writer_bytes(&c->out, piece.data, piece.size);
}

/* Reports an error of a view. A path that names nothing is an error of usage. */
static void view_error(struct cli *c, const char *file, penta_error *err)
{
    if (c->value[OPT_SELECT] && err->code == BASE_OPTION_VALUE)
        error_note(err, "penta inspect FILE shows all paths");
    cli_error(c, cli_exit_of(err->code) == EXIT_USAGE ? NULL : file, err);
}

static void ignore_part(void *user, const penta_selected *part) { (void)user, (void)part; }

static void tree_json(struct cli *c, const penta_module *module)
{
    penta_visitor visitor = json_tree_visitor(&c->json);
    penta_error err = {0};
    json_list(&c->json, "tree");
    if (!penta_describe_part(module, c->value[OPT_SELECT], 0, &visitor) &&
        !penta_select(module, c->value[OPT_SELECT], ignore_part, NULL, NULL, &err))
        view_error(c, NULL, &err);
    json_end(&c->json);
}

typedef bool view_fn(const penta_module *module, const penta_option *options, size_t count,
                     penta_piece *take, void *user, penta_error *err);

static void inspect_show(struct cli *c, const struct input *in, view_fn *view)
{
    penta_option options[3];
    penta_error err = {0};
    size_t count = cli_colors(c, options);
    if (c->value[OPT_SELECT]) options[count++] = (penta_option){"select", c->value[OPT_SELECT]};
    if (c->value[OPT_COVERAGE]) options[count++] = (penta_option){"coverage", "1"};
    if (!view(in->module, options, count, show_piece, c, &err)) view_error(c, in->name, &err);
}

void command_INSPECT(struct cli *c)
{
    struct input in;
    if (!input_open(c, c->words[0], &in)) return;
    if (c->value[OPT_JSON]) {
        about_file(c, &in);
        json_text(&c->json, "format", penta_module_format(in.module));
        json_bool(&c->json, "damaged", penta_module_damage(in.module) != NULL);
        tree_json(c, in.module);
    } else {
        inspect_show(c, &in, penta_tree_pieces);
    }
    input_close(&in);
}

void command_HEX(struct cli *c)
{
    struct input in;
    if (!input_open(c, c->words[0], &in)) return;
    /* The document has the same tree, with the bytes as one hex string. */
    if (c->value[OPT_JSON]) {
        about_file(c, &in);
        json_hex(&c->json, "bytes", input_bytes(&in));
        tree_json(c, in.module);
    } else {
        inspect_show(c, &in, penta_hex_pieces);
    }
    input_close(&in);
}
