/* Implements penta/views.h with the visitors of core/views. */
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/json/json_visit.h"
#include "base/options.h"
#include "base/sanitize.h"
#include "core/describe.h"
#include "core/driver.h"
#include "core/engine.h"
#include "core/views/diff.h"
#include "core/views/memory_summary.h"
#include "text/lexer.h"

enum { TREE = 1, HEX = 2, INFO = 4, STATE = 8, DIFF = 16 };
static const penta_option_info known[] = {
    OPTION_ROW("json", SWITCH, TREE | DIFF, ""),
    OPTION_ROW("select", TEXT("PATH"), TREE | HEX | DIFF, ""),
    OPTION_ROW("depth", SIZE("N", NULL), TREE | HEX, ""),
    OPTION_ROW("colors", TEXT("MARK"), TREE | HEX | INFO | STATE | DIFF, ""),
    OPTION_ROW("coverage", SWITCH, HEX, ""),
    OPTION_ROW("items", SIZE("N", NULL), INFO, ""),
    OPTION_ROW("without", TEXT("NAME"), STATE, ""),
    OPTION_ROW("show-memory", SWITCH, STATE, ""),
    OPTION_ROW("hint", TEXT("TEXT"), STATE, ""),
    {.key = NULL}};

struct view_options {
    bool json;
    const struct selector *select; /* NULL when everything is selected */
    struct selector selector;
    uint64_t depth, items;
    struct marked_palette marked;
    const struct palette *palette;
};

static bool read_options(struct view_options *v, unsigned use, const penta_option *options,
                         size_t count, penta_error *err)
{
    *v = (struct view_options){.palette = &palette_plain};
    *err = (penta_error){0};
    if (!options_check(options, count, known, use, err) ||
        !option_uint(options, count, "depth", &v->depth, err) ||
        !option_uint(options, count, "items", &v->items, err))
        return false;
    if (v->depth > UINT32_MAX) v->depth = 0;
    v->json = option_text(options, count, "json");
    const char *select = option_text(options, count, "select");
    if (select && !selector_parse(&v->selector, select, err)) return false;
    v->select = select ? &v->selector : NULL;
    const char *mark = option_text(options, count, "colors");
    if (mark && strlen(mark) > 16)
        return error_at(err, BASE_OPTION_VALUE, 0, "option 'colors': the mark is too long");
    if (!mark) return true;
    palette_marked(&v->marked, mark);
    v->palette = &v->marked.palette;
    return true;
}

static bool describe_selected(const penta_module *module, const struct selector *selector,
                              unsigned depth, const penta_visitor *visitor, penta_error *err)
{
    if (!selector && !depth) {
        module->driver->describe(module, visitor);
        return true;
    }
    struct select_view select = {.depth_max = depth, .next = *visitor};
    penta_visitor selecting = select_visitor(&select, selector);
    module->driver->describe(module, &selecting);
    select_free(&select);
    return select.found || !select.walk.selector || selector_missing(&select.walk, err);
}

bool penta_describe_part(const penta_module *module, const char *path, unsigned depth,
                         const penta_visitor *visitor)
{
    struct selector selector;
    penta_error err = {0};
    return (!path || selector_parse(&selector, path, &err)) &&
           describe_selected(module, path ? &selector : NULL, depth, visitor, &err);
}

static bool views_walk(const penta_module *module, const struct view_options *v,
                       const penta_visitor *visitor, penta_error *err)
{
    return describe_selected(module, v->select, (unsigned)v->depth, visitor, err);
}

static bool views_tree(const penta_module *module, const penta_option *options, size_t count,
                       struct writer *out, penta_error *err)
{
    struct view_options v;
    if (!read_options(&v, TREE, options, count, err)) return false;
    if (!v.json) {
        struct tree_view view = {.out = out, .palette = v.palette};
        penta_visitor visitor = tree_visitor(&view);
        return views_walk(module, &v, &visitor, err);
    }
    struct json j = {.out = out};
    penta_visitor visitor = json_tree_visitor(&j);
    json_list(&j, NULL);
    bool ok = views_walk(module, &v, &visitor, err);
    json_finish(&j);
    return ok;
}

static bool views_hex(const penta_module *module, const penta_option *options, size_t count,
                      struct writer *out, penta_error *err)
{
    struct view_options v;
    if (!read_options(&v, HEX, options, count, err)) return false;
    struct hex_view view = {
        .out = out, .palette = v.palette, .file = module->file, .module = module};
    if (option_text(options, count, "coverage")) {
        view.protection = module->driver->protection;
        if (!view.protection)
            return error_at(err, BASE_UNSUPPORTED, 0, "%s files have nothing that protects them",
                            module->driver->name);
    }
    penta_visitor visitor = hex_visitor(&view);
    return views_walk(module, &v, &visitor, err);
}

typedef bool view_fn(const penta_module *module, const penta_option *options, size_t count,
                     struct writer *out, penta_error *err);

static bool in_pieces(view_fn *view, const penta_module *module, const penta_option *options,
                      size_t count, penta_piece *take, void *user, penta_error *err)
{
    struct writer w = {.sink = take, .user = user};
    bool ok = view(module, options, count, &w, err) && writer_ok(&w, err);
    if (ok) writer_flush(&w);
    writer_free(&w);
    return ok;
}

bool penta_tree(const penta_module *module, const penta_option *options, size_t count,
                penta_buffer *out, penta_error *err)
{
    struct writer w = {0};
    return writer_give(&w, views_tree(module, options, count, &w, err), out, err);
}

bool penta_tree_pieces(const penta_module *module, const penta_option *options, size_t count,
                       penta_piece *take, void *user, penta_error *err)
{
    return in_pieces(views_tree, module, options, count, take, user, err);
}

bool penta_hex(const penta_module *module, const penta_option *options, size_t count,
               penta_buffer *out, penta_error *err)
{
    struct writer w = {0};
    return writer_give(&w, views_hex(module, options, count, &w, err), out, err);
}

bool penta_hex_pieces(const penta_module *module, const penta_option *options, size_t count,
                      penta_piece *take, void *user, penta_error *err)
{
    return in_pieces(views_hex, module, options, count, take, user, err);
}

bool penta_info_text(const penta_module *module, const penta_option *options, size_t count,
                     penta_buffer *out, penta_error *err)
{
    struct view_options v;
    struct writer w = {0};
    if (!read_options(&v, INFO, options, count, err)) return false;
    struct state_view view = {.out = &w, .palette = v.palette, .items_max = v.items};
    penta_visitor visitor = state_visitor(&view);
    penta_info(module, &visitor);
    return writer_give(&w, true, out, err);
}

struct state_filter { /* A visitor that leaves out some fields of the top level. */
    penta_visitor next;
    unsigned depth;
    const penta_option *options;
    size_t count;
};

static bool name_is_left_out(const struct state_filter *f, const char *name)
{
    for (size_t i = 0; !f->depth && i < f->count; i++)
        if (!strcmp(f->options[i].key, "without") && !strcmp(f->options[i].value, name))
            return true;
    return false;
}

static bool filter_enter(void *user, const penta_node *node)
{
    struct state_filter *f = user;
    if (name_is_left_out(f, node->name) || !describe_enter(&f->next, *node)) return false;
    f->depth++;
    return true;
}

static void filter_field(void *user, const penta_field *field)
{
    struct state_filter *f = user;
    if (!name_is_left_out(f, field->name)) describe_field(&f->next, *field);
}

static void filter_leave(void *user, const penta_node *node)
{
    struct state_filter *f = user;
    f->depth--;
    describe_leave(&f->next, *node);
}

bool penta_vm_text(const penta_vm *vm, const penta_option *options, size_t count, penta_buffer *out,
                   penta_error *err)
{
    struct view_options v;
    struct writer w = {0};
    if (!read_options(&v, STATE, options, count, err)) return false;
    struct state_view view = {.out = &w, .palette = v.palette};
    struct memory_summary summary = {
        .next = state_visitor(&view), .out = &w, .hint = option_text(options, count, "hint")};
    bool all = option_text(options, count, "show-memory");
    struct state_filter f = {.next = all ? summary.next : memory_summary_visitor(&summary),
                             .options = options,
                             .count = count};
    penta_visitor visitor = {&f, filter_enter, filter_field, filter_leave};
    vm->engine->describe(vm, &visitor);
    return writer_give(&w, true, out, err);
}

static bool diff_selected(const penta_module *a, const penta_module *b,
                          const struct selector *selector, penta_difference_report *report,
                          void *user, size_t *differences, penta_error *err)
{
    if (a->driver == b->driver) {
        *differences = diff_modules(a, b, selector, report, user, err);
        return !err->code;
    }
    const penta_field x = {.kind = PENTA_TEXT, .as.bytes = bytes_of(a->driver->name)};
    const penta_field y = {.kind = PENTA_TEXT, .as.bytes = bytes_of(b->driver->name)};
    *differences = 1;
    report(user, &(penta_difference){.sign = '~', .path = "/format", .a = &x, .b = &y});
    return true;
}

bool penta_diff_each(const penta_module *a, const penta_module *b, penta_difference_report *report,
                     void *user, size_t *differences, penta_error *err)
{
    *err = (penta_error){0};
    return diff_selected(a, b, NULL, report, user, differences, err);
}

struct diff_lines {
    struct writer out;
    struct json json;
    struct view_options options;
};

static void diff_json(void *user, const penta_difference *d)
{
    struct json *j = &((struct diff_lines *)user)->json;
    json_object(j, NULL);
    json_text(j, "change", d->sign == '~' ? "changed" : d->sign == '-' ? "removed" : "added");
    json_text(j, "path", d->path);
    if (d->sign != '+') json_uint(j, "offset_a", d->offset_a);
    if (d->sign != '-') json_uint(j, "offset_b", d->offset_b);
    if (d->a) json_field(j, "a", d->a);
    if (d->b) json_field(j, "b", d->b);
    json_end(j);
}

static void diff_side(struct writer *out, const penta_field *field)
{
    if (field)
        view_value(out, field, 32);
    else
        writer_text(out, "...");
}

static void diff_text(void *user, const penta_difference *d)
{
    struct writer *out = &((struct diff_lines *)user)->out;
    const struct palette *p = ((struct diff_lines *)user)->options.palette;
    writer_print(out, "%s%c%s ", d->sign == '-' ? p->error : p->warning, d->sign, p->off);
    writer_safe_text(out, d->path);
    if (d->sign == '~') {
        writer_text(out, ": ");
        diff_side(out, d->a);
        writer_text(out, " -> ");
        diff_side(out, d->b);
    } else if (d->a || d->b) {
        writer_text(out, " = ");
        diff_side(out, d->a ? d->a : d->b);
    }
    writer_char(out, '\n');
}

bool penta_diff(const penta_module *a, const penta_module *b, const penta_option *options,
                size_t count, penta_buffer *out, size_t *differences, penta_error *err)
{
    struct diff_lines lines = {0};
    size_t found = 0;
    if (!read_options(&lines.options, DIFF, options, count, err)) return false;
    lines.json.out = &lines.out;
    bool json = lines.options.json;
    if (json) json_list(&lines.json, NULL);
    bool ok = diff_selected(a, b, lines.options.select, json ? diff_json : diff_text, &lines,
                            &found, err);
    if (json) json_finish(&lines.json);
    if (differences) *differences = found;
    return writer_give(&lines.out, ok, out, err);
}

bool penta_places(const penta_module *module, const penta_error *findings, size_t count,
                  penta_place *places, penta_buffer *paths, penta_error *err)
{
    *err = (penta_error){0};
    struct writer w = {0};
    bool ok = places_locate(module, findings, count, paths->size, places, &w, err);
    return writer_give(&w, ok, paths, err);
}

void penta_source_place(penta_bytes text, uint64_t offset, uint64_t *number, uint64_t *column,
                        penta_bytes *line)
{
    struct place place = source_place(text, offset);
    *number = place.line;
    *column = place.column;
    if (line) *line = place.text;
}
