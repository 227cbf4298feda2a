/* trace --compare: two traces of trace --json, step by step, up to the first difference. */
#include <inttypes.h>
#include <string.h>
#include "base/json/json_read.h"
#include "base/sanitize.h"
#include "cli/machine/compare.h"

enum { CONTEXT = 3 };

struct side {
    const char *name;
    struct json_doc *doc;
    const struct json_object *lines;
    size_t first, count; /* lines from `first` on are compared */
};

static bool side_open(struct cli *c, const char *name, struct side *s)
{
    struct input in;
    penta_error err = {0};
    *s = (struct side){.name = name};
    if (!input_read(c, name, &in)) return false;
    s->doc = json_parse(input_bytes(&in), &err);
    input_close(&in);
    s->lines = s->doc ? json_get(json_root(s->doc), "lines") : NULL;
    if (s->doc && !json_is_list(s->lines))
        error_at(&err, BASE_STATE, 0, "this is not a document of penta trace --json");
    if (err.code) cli_error(c, name, &err);
    s->count = json_length(s->lines);
    return !err.code;
}

static uint64_t number(const struct json_object *line, const char *key)
{
    uint64_t value = UINT64_MAX;
    json_as_uint(json_get(line, key), &value);
    return value;
}

/* The traces may begin at different steps: lines before the later beginning have no partner. */
static void align(struct side *a, struct side *b)
{
    uint64_t x = number(json_item(a->lines, 0), "step"), y = number(json_item(b->lines, 0), "step");
    struct side *early = x < y ? a : b;
    uint64_t from = x < y ? y : x;
    while (early->first < early->count &&
           number(json_item(early->lines, early->first), "step") < from)
        early->first++;
}

struct members {
    const struct json_object *other;
    bool differ;
    size_t count;
};

static void same_member(void *user, const char *key, const struct json_object *value)
{
    struct members *m = user;
    const char *x = json_as_text(value), *y = json_as_text(json_get(m->other, key));
    m->count++;
    m->differ |= !x || !y || strcmp(x, y);
}

static void count_member(void *user, const char *key, const struct json_object *value)
{
    (void)key, (void)value;
    ++*(size_t *)user;
}

static bool same_text(const struct json_object *a, const struct json_object *b, const char *key)
{
    const char *x = json_as_text(json_get(a, key)), *y = json_as_text(json_get(b, key));
    return x && y ? !strcmp(x, y) : x == y;
}

/* What differs, or NULL. */
static const char *difference(const struct json_object *a, const struct json_object *b)
{
    if (number(a, "step") != number(b, "step")) return "step";
    if (number(a, "pc") != number(b, "pc")) return "pc";
    if (!same_text(a, b, "text")) return "instruction";
    if (!same_text(a, b, "inner")) return "inner";
    if (!same_text(a, b, "stop")) return "stop";
    struct members m = {.other = json_get(b, "changes")};
    size_t others = 0;
    json_each(json_get(a, "changes"), same_member, &m);
    json_each(m.other, count_member, &others);
    return m.differ || m.count != others ? "changes" : NULL;
}

static void change(void *user, const char *key, const struct json_object *value)
{
    struct writer *w = user;
    const char *text = json_as_text(value);
    writer_text(w, "  ");
    writer_safe_text(w, key);
    writer_char(w, '=');
    writer_safe_text(w, text ? text : "?");
}

static void show_line(struct writer *w, char sign, const struct json_object *line)
{
    const char *text = json_as_text(json_get(line, "text"));
    const char *stop = json_as_text(json_get(line, "stop"));
    writer_print(w, "%c %8" PRIu64 " %6" PRIu64 "  ", sign, number(line, "step"),
                 number(line, "pc"));
    writer_safe_text(w, text ? text : "");
    json_each(json_get(line, "changes"), change, w);
    if (stop) {
        writer_text(w, "  ; ");
        writer_safe_text(w, stop);
    }
    writer_char(w, '\n');
}

static void show_rest(struct writer *w, char sign, const struct side *s, size_t at)
{
    if (s->first + at >= s->count) writer_print(w, "%c the trace ends\n", sign);
    for (size_t i = s->first + at; i < s->count && i < s->first + at + CONTEXT; i++)
        show_line(w, sign, json_item(s->lines, i));
}

static void show(struct cli *c, const struct side *a, const struct side *b, size_t at,
                 const char *what)
{
    struct writer *w = &c->out;
    if (c->value[OPT_JSON]) {
        json_bool(&c->json, "same", !what);
        json_uint(&c->json, "compared", at);
        if (!what) return;
        json_text(&c->json, "differs", what);
        if (a->first + at < a->count)
            json_uint(&c->json, "pc_a", number(json_item(a->lines, a->first + at), "pc"));
        if (b->first + at < b->count)
            json_uint(&c->json, "pc_b", number(json_item(b->lines, b->first + at), "pc"));
        return;
    }
    if (!what) {
        writer_print(w, "same: %zu lines\n", at);
        return;
    }
    writer_print(w, "%s differs after %zu lines that are the same\n", what, at);
    for (size_t i = at > CONTEXT ? at - CONTEXT : 0; i < at; i++)
        show_line(w, ' ', json_item(a->lines, a->first + i));
    show_rest(w, '-', a, at);
    show_rest(w, '+', b, at);
}

void trace_compare(struct cli *c)
{
    struct side a = {0}, b = {0};
    /* The word after the first is, as for a program, kept as its argument. */
    const penta_option *second = c->format_options;
    if (c->word_count != 1 || c->format_option_count != 1 || strcmp(second->key, "argv")) {
        cli_usage(c, NULL, "--compare: two documents of penta trace --json");
        return;
    }
    if (side_open(c, c->words[0], &a) && side_open(c, second->value, &b)) {
        size_t i = 0;
        const char *what = NULL;
        align(&a, &b);
        while (!what && a.first + i < a.count && b.first + i < b.count) {
            what = difference(json_item(a.lines, a.first + i), json_item(b.lines, b.first + i));
            if (!what) i++;
        }
        if (!what && (a.first + i < a.count || b.first + i < b.count)) what = "length";
        show(c, &a, &b, i, what);
        if (what) cli_fail(c, EXIT_NO);
    }
    json_doc_free(a.doc);
    json_doc_free(b.doc);
}
