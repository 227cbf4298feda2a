/* Implements penta_diff_code of penta/views.h. */
#include "base/bytes.h"
#include "base/json/json_write.h"
#include "base/options.h"
#include "base/palette.h"
#include <string.h>
#include "penta/code_diff/code_diff.h"
#include "penta/views.h"

enum { CODE_WIDTH = 80, CODE_NARROW = 20, CODE_WIDE = 10000 };

static const penta_option_info code_diff_options[] = {
    OPTION_ROW("form", WORDS("text|side|html|json"), OPTION_PRINT, ""),
    OPTION_ROW("width", NUMBER("N", CODE_NARROW, CODE_WIDE, "columns"), OPTION_PRINT, ""),
    OPTION_ROW("colors", TEXT("MARK"), OPTION_PRINT, ""),
    OPTION_ROW("title-a", TEXT("TEXT"), OPTION_PRINT, ""),
    OPTION_ROW("title-b", TEXT("TEXT"), OPTION_PRINT, ""),
    {.key = NULL}};

static void code_show(const struct code_diff *d, struct code_view *v, const char *form,
                      size_t *differences)
{
    if (!strcmp(form, "json")) {
        struct json j = {.out = v->out};
        json_list(&j, NULL);
        code_visit(d, code_show_json, &j, differences);
        json_finish(&j);
    } else if (!strcmp(form, "html")) {
        code_html_head(v);
        code_visit(d, code_show_html, v, differences);
        writer_text(v->out, *differences ? "</html>\n" : "<p>The code is the same.</p></html>\n");
    } else {
        bool side = !strcmp(form, "side");
        code_visit(d, side ? code_show_side : code_show_text, v, differences);
    }
}

bool penta_diff_code(const penta_module *a, const penta_module *b, const penta_option *options,
                     size_t count, penta_buffer *out, size_t *differences, penta_error *err)
{
    *err = (penta_error){0};
    if (!options_check(options, count, code_diff_options, OPTION_PRINT, err)) return false;
    const char *form = option_text(options, count, "form");
    const char *mark = option_text(options, count, "colors");
    struct marked_palette marked;
    struct writer w = {0};
    struct code_view v = {.out = &w,
                          .palette = &palette_plain,
                          .title_a = option_text(options, count, "title-a"),
                          .title_b = option_text(options, count, "title-b")};
    uint64_t width = CODE_WIDTH;
    size_t found = 0;
    if (!option_uint(options, count, "width", &width, err)) return false;
    v.width = (size_t)width;
    if (!v.title_a) v.title_a = "a";
    if (!v.title_b) v.title_b = "b";
    if (mark && strlen(mark) > 16)
        return error_at(err, BASE_OPTION_VALUE, 0, "option 'colors': the mark is too long");
    if (mark) {
        palette_marked(&marked, mark);
        v.palette = &marked.palette;
    }
    if (a->driver != b->driver)
        return error_at(err, BASE_UNSUPPORTED, 0,
                        "files of two formats have no code in common: %s and %s", a->driver->name,
                        b->driver->name);
    struct code_diff d = {.err = err};
    bool ok = code_read(&d, a, b) && code_match(&d) && code_compare(&d);
    if (ok) code_slides(&d);
    ok = ok && code_moves(&d) && code_renames(&d) && code_targets(&d);
    if (ok) code_show(&d, &v, form ? form : "text", &found);
    code_diff_free(&d);
    if (differences) *differences = found;
    return writer_give(&w, ok && !err->code, out, err);
}
