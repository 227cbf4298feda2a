/* Implements the command dis, which prints a whole listing that assembles to the same bytes, or
 * parts of the code for reading. */
#include <stdlib.h>
#include <string.h>
#include "cli/terminal/highlight.h"

/* A listing that is shown while it is printed. Colours need whole lines, so the last line waits
 * for its end. */
struct listing {
    struct cli *c;
    const char *format;
    struct writer rest;
};

static void dis_show(struct listing *l, penta_bytes text)
{
    if (l->c->out_is_file)
        writer_bytes(&l->c->out, text.data, text.size);
    else
        highlight_text(&l->c->out, cli_palette(l->c), l->format, text);
}

static void show_piece(void *user, penta_bytes piece)
{
    struct listing *l = user;
    const uint8_t *end = memrchr(piece.data, '\n', piece.size);
    size_t whole = end ? (size_t)(end - piece.data) + 1 : 0;
    writer_bytes(&l->rest, piece.data, whole);
    if (whole) {
        dis_show(l, writer_view(&l->rest));
        l->rest.out.size = 0;
    }
    writer_bytes(&l->rest, piece.data + whole, piece.size - whole);
}

/* Refuses options of a format that would change a whole listing. */
static bool no_print_options(const struct cli *c, const char *what, penta_error *err)
{
    for (size_t i = 0; i < c->format_option_count; i++)
        if (!format_option(c->format_options[i].key, OPTION_OPEN))
            return error_at(err, BASE_OPTION, 0, "--%s is for %s", c->format_options[i].key, what);
    return true;
}

/* Prints the parts of the code that the options choose. penta_print_code knows the same options. */
static bool print_parts(struct cli *c, const penta_module *module, struct writer *out,
                        penta_error *err)
{
    penta_option options[5];
    size_t count = 0;
    const char *function = c->value[OPT_FUNCTION], *range = c->value[OPT_RANGE];
    if (c->value[OPT_PLAIN]) return error_at(err, BASE_OPTION, 0, "--plain is for whole listings");
    if (!no_print_options(c, "whole listings", err)) return false;
    if (function) options[count++] = (penta_option){"function", function};
    if (range) options[count++] = (penta_option){"range", range};
    if (c->value[OPT_SELECT]) options[count++] = (penta_option){"select", c->value[OPT_SELECT]};
    if (c->value[OPT_SOURCE]) options[count++] = (penta_option){"source", "1"};
    if (c->value[OPT_ARROWS])
        options[count++] = (penta_option){"arrows", cli_utf8() ? "utf8" : "ascii"};
    penta_buffer text = {0};
    bool ok = penta_print_code(module, options, count, &text, err);
    writer_bytes(out, text.data, text.size);
    penta_buffer_free(&text);
    return ok && writer_ok(out, err);
}

static bool print_plain(struct cli *c, const penta_module *module, struct writer *out,
                        penta_error *err)
{
    penta_buffer text = {0};
    bool ok = no_print_options(c, "listings without --plain", err) &&
              penta_print_plain(module, &text, err);
    writer_bytes(out, text.data, text.size);
    penta_buffer_free(&text);
    return ok && writer_ok(out, err);
}

/* Whether the whole listings of this format can have source lines as comments. */
static bool listing_has_source(const struct cli *c, const penta_module *module)
{
    return c->value[OPT_SOURCE] &&
           penta_option_find(penta_module_format(module), "source", OPTION_PRINT);
}

/* Whether the code is shown instruction by instruction, and not as a whole listing. */
static bool dis_in_parts(const struct cli *c, const penta_module *module)
{
    static const enum option parts[] = {OPT_FUNCTION, OPT_RANGE, OPT_CODE_ONLY, OPT_ARROWS,
                                        OPT_SELECT};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (c->value[parts[i]]) return true;
    return c->value[OPT_SOURCE] && !listing_has_source(c, module);
}

static bool dis_print(struct cli *c, const penta_module *module, struct writer *out,
                      penta_error *err)
{
    if (dis_in_parts(c, module) && !penta_module_damage(module))
        return print_parts(c, module, out, err);
    if (c->value[OPT_PLAIN]) return print_plain(c, module, out, err);
    size_t count = 0;
    penta_option *options = options_for(c, penta_module_format(module), OPTION_PRINT, &count);
    penta_option *more = realloc(options, (count + 1) * sizeof *more);
    if (more) options = more;
    if (more && listing_has_source(c, module)) options[count++] = (penta_option){"source", "1"};
    bool ok = out->sink ? penta_print_pieces(module, options, count, out->sink, out->user, err)
                        : penta_print(module, options, count, &out->out, err);
    free(options);
    return ok;
}

/* Writes the document of schema 2. A file that -o names gets the text. */
static void dis_instructions(struct cli *c, const struct input *in)
{
    penta_error err = {0};
    penta_buffer list = {0};
    size_t count = 0;
    const char *parts[] = {c->value[OPT_FUNCTION], c->value[OPT_RANGE], c->value[OPT_SELECT]};
    static const char *const keys[] = {"function", "range", "select"};
    penta_option *options = options_for(c, penta_module_format(in->module), OPTION_PRINT, &count);
    penta_option *more = realloc(options, (count + 3) * sizeof *more);
    if (more) options = more;
    for (int i = 0; more && i < 3; i++)
        if (parts[i]) options[count++] = (penta_option){keys[i], parts[i]};
    if (!more)
        error_at(&err, BASE_MEMORY, 0, "no memory for the options");
    else if (c->value[OPT_ARROWS] || c->value[OPT_PLAIN])
        error_at(&err, BASE_OPTION, 0, "--%s is for text: with --json it needs --schema 1",
                 c->value[OPT_ARROWS] ? "arrows" : "plain");
    if (!err.code && penta_code_json(in->module, options, count, &list, &err))
        json_raw(&c->json, "instructions", (penta_bytes){list.data, list.size});
    else
        cli_error(c, in->name, &err);
    penta_buffer_free(&list);
    free(options);
}

/* Disassembles a file. The text is shown while it is printed. Only a document needs it as a whole, and a file, which is
 * written all at once. */
void command_DIS(struct cli *c)
{
    struct input in;
    penta_error err = {0};
    if (!input_open(c, c->words[0], &in)) return;
    bool whole = !penta_module_damage(in.module); /* else printing says why it cannot be shown */
    if (c->value[OPT_JSON] && cli_schema(c) == 2 && !c->out_is_file && whole) {
        json_text(&c->json, "file", in.name);
        json_text(&c->json, "format", penta_module_format(in.module));
        dis_instructions(c, &in);
        input_close(&in);
        return;
    }
    struct listing l = {.c = c, .format = penta_module_format(in.module)};
    struct writer text = {.sink = c->value[OPT_JSON] ? NULL : show_piece, .user = &l};
    bool ok = dis_print(c, in.module, &text, &err);
    if (ok && text.sink) {
        writer_flush(&text);
        dis_show(&l, writer_view(&l.rest));
        c->out.failed |= l.rest.failed;
    } else if (ok) {
        json_text(&c->json, "file", in.name);
        json_text(&c->json, "format", penta_module_format(in.module));
        cli_text(c, writer_view(&text));
    } else {
        cli_error(c, in.name, &err);
    }
    writer_free(&text);
    writer_free(&l.rest);
    input_close(&in);
}
