/* The command diff compares the trees of two files of one format, or their code. */
#include <stdio.h>
#include <string.h>
#include "cli/output.h"
#include "cli/terminal/wrap.h"
#include "penta/structure.h"

static void diff_compare(struct cli *c, const struct input *a, const struct input *b)
{
    bool json = c->value[OPT_JSON];
    penta_option options[3] = {{"json", "1"}};
    size_t count = json ? 1 : cli_colors(c, options), differences = 0;
    if (c->value[OPT_SELECT]) options[count++] = (penta_option){"select", c->value[OPT_SELECT]};
    penta_buffer out = {0};
    penta_error err = {0};
    if (!penta_diff(a->module, b->module, options, count, &out, &differences, &err))
        cli_error(c, a->name, &err);
    else if (differences)
        cli_fail(c, EXIT_NO);
    if (json) {
        json_text(&c->json, "a", a->name);
        json_text(&c->json, "b", b->name);
        json_raw(&c->json, "differences", (penta_bytes){out.data, out.size});
        json_bool(&c->json, "same", !differences && !err.code);
    } else if (!c->value[OPT_QUIET]) {
        writer_bytes(&c->out, out.data, out.size);
    }
    penta_buffer_free(&out);
}

static const char *diff_form(const struct cli *c)
{
    return c->value[OPT_JSON] ? "json" : c->value[OPT_SIDE_BY_SIDE] ? "side" : "text";
}

/* The file that an error of a comparison is about: the second when the first has a structure. */
static const char *diff_culprit(const struct input *a, const struct input *b)
{
    penta_error ignored;
    penta_structure *structure = penta_structure_new(a->module, &ignored);
    const char *name = structure ? b->name : a->name;
    penta_structure_free(structure);
    return name;
}

static bool diff_code(struct cli *c, const struct input *a, const struct input *b, const char *form,
                      penta_buffer *out)
{
    char columns[24];
    size_t width = wrap_width(c), differences = 0;
    if (width < 20) width = width ? 20 : 80;
    if (width > 10000) width = 10000;
    snprintf(columns, sizeof columns, "%zu", width);
    penta_option options[6] = {
        {"form", form}, {"width", columns}, {"title-a", a->name}, {"title-b", b->name}};
    size_t count = 4;
    bool text = strcmp(form, "json") && strcmp(form, "html");
    if (text) count += cli_colors(c, options + count);
    penta_error err = {0};
    if (!penta_diff_code(a->module, b->module, options, count, out, &differences, &err)) {
        cli_error(c, diff_culprit(a, b), &err);
        return false;
    }
    if (differences) cli_fail(c, EXIT_NO);
    return true;
}

static void diff_page(struct cli *c, const struct input *a, const struct input *b)
{
    const char *path = c->value[OPT_HTML];
    penta_buffer page = {0};
    if (diff_code(c, a, b, "html", &page)) {
        penta_bytes bytes = {page.data, page.size};
        if (strcmp(path, "-"))
            output_write(c, path, bytes);
        else
            writer_bytes(&c->out, bytes.data, bytes.size);
    }
    penta_buffer_free(&page);
}

static void diff_instructions(struct cli *c, const struct input *a, const struct input *b)
{
    penta_buffer out = {0};
    if (c->value[OPT_HTML]) diff_page(c, a, b);
    if (c->value[OPT_HTML] && !c->value[OPT_JSON]) return;
    bool ok = diff_code(c, a, b, diff_form(c), &out);
    if (c->value[OPT_JSON]) {
        json_text(&c->json, "a", a->name);
        json_text(&c->json, "b", b->name);
        if (ok) json_raw(&c->json, "functions", (penta_bytes){out.data, out.size});
        json_bool(&c->json, "same", ok && c->exit == EXIT_YES);
    } else if (!c->value[OPT_QUIET]) {
        writer_bytes(&c->out, out.data, out.size);
    }
    penta_buffer_free(&out);
}

/* Refuses options that the other comparison has. Returns false when an error has been reported. */
static bool diff_options_fit(struct cli *c)
{
    const char *html = c->value[OPT_HTML];
    if (c->value[OPT_CODE] && c->value[OPT_SELECT])
        cli_usage(c, NULL, "--select is for comparing fields, not for --code");
    else if (!c->value[OPT_CODE] && (html || c->value[OPT_SIDE_BY_SIDE]))
        cli_usage(c, NULL, "--%s is for --code", html ? "html" : "side-by-side");
    else if (html && !strcmp(html, "-") && c->value[OPT_JSON])
        cli_usage(c, "name a file", "--json and --html - both write to standard output");
    else
        return true;
    return false;
}

void command_DIFF(struct cli *c)
{
    struct input a = {0}, b = {0};
    if (!diff_options_fit(c)) return;
    if (input_open(c, c->words[0], &a) && input_open(c, c->words[1], &b)) {
        if (c->value[OPT_CODE])
            diff_instructions(c, &a, &b);
        else
            diff_compare(c, &a, &b);
    }
    input_close(&a);
    input_close(&b);
}
