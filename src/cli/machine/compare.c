/* Implements trace --compare. It compares two traces of trace --json step by step up to the
 * first difference. What follows the difference is shown like the difference of two texts: lines
 * that both have are next to each other again. */
#include <inttypes.h>
#include <string.h>
#include "base/json/json_read.h"
#include "base/sanitize.h"
#include "cli/machine/compare.h"

/* the number of lines before the difference, and of lines of each side after it */
enum { CONTEXT = 3, AFTER = 8 };

struct side {
    const char *name;
    struct json_doc *doc;
    const struct json_object *lines;
    size_t first, count; /* `count` lines from `first` on are compared. */
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

static uint64_t compare_number(const struct json_object *line, const char *key)
{
    uint64_t value = UINT64_MAX;
    json_as_uint(json_get(line, key), &value);
    return value;
}

/* Skips lines before the later beginning, because the traces may begin at different steps. */
static void compare_align(struct side *a, struct side *b)
{
    uint64_t x = compare_number(json_item(a->lines, 0), "step"),
             y = compare_number(json_item(b->lines, 0), "step");
    struct side *early = x < y ? a : b;
    uint64_t from = x < y ? y : x;
    while (early->first < early->count &&
           compare_number(json_item(early->lines, early->first), "step") < from)
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

/* Names what differs besides the place, or returns NULL. */
static const char *compare_difference(const struct json_object *a, const struct json_object *b)
{
    if (!same_text(a, b, "text")) return "instruction";
    if (!same_text(a, b, "inner")) return "inner";
    if (!same_text(a, b, "stop")) return "stop";
    struct members m = {.other = json_get(b, "changes")};
    size_t others = 0;
    json_each(json_get(a, "changes"), same_member, &m);
    json_each(m.other, count_member, &others);
    return m.differ || m.count != others ? "changes" : NULL;
}

static void compare_change(void *user, const char *key, const struct json_object *value)
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
    writer_print(w, "%c %8" PRIu64 " %6" PRIu64 "  ", sign, compare_number(line, "step"),
                 compare_number(line, "pc"));
    writer_safe_text(w, text ? text : "");
    json_each(json_get(line, "changes"), compare_change, w);
    if (stop) {
        writer_text(w, "  ; ");
        writer_safe_text(w, stop);
    }
    writer_char(w, '\n');
}

/* The lines of a side from the difference on, and for each pair of places how many lines both
 * sides have in common from there on. */
struct window {
    const struct side *side;
    size_t from, count;
};

static const struct json_object *window_line(const struct window *v, size_t i)
{
    return json_item(v->side->lines, v->from + i);
}

static struct window window_of(const struct side *s, size_t at)
{
    size_t from = s->first + at, left = from < s->count ? s->count - from : 0;
    return (struct window){s, from, left < AFTER ? left : AFTER};
}

static void show_trace_end(struct writer *w, char sign, const struct window *v, size_t at)
{
    if (at == v->count && v->from + at >= v->side->count)
        writer_print(w, "%c the trace ends\n", sign);
}

static void show_windows(struct writer *w, const struct window *a, const struct window *b)
{
    unsigned common[AFTER + 1][AFTER + 1] = {{0}};
    size_t i = 0, j = 0;
    for (size_t x = a->count; x-- > 0;)
        for (size_t y = b->count; y-- > 0;) {
            unsigned one = common[x + 1][y], other = common[x][y + 1];
            bool same = (x || y) && !compare_difference(window_line(a, x), window_line(b, y));
            common[x][y] = same ? common[x + 1][y + 1] + 1 : one > other ? one : other;
        }
    if (!a->count) show_trace_end(w, '-', a, 0);
    if (!b->count) show_trace_end(w, '+', b, 0);
    while (i < a->count || j < b->count) {
        bool both = i < a->count && j < b->count && (i || j);
        if (both && !compare_difference(window_line(a, i), window_line(b, j))) {
            show_line(w, ' ', window_line(a, i++));
            j++;
        } else if (i < a->count && (j == b->count || common[i + 1][j] >= common[i][j + 1])) {
            show_line(w, '-', window_line(a, i++));
            show_trace_end(w, '-', a, i);
        } else {
            show_line(w, '+', window_line(b, j++));
            show_trace_end(w, '+', b, j);
        }
    }
}

static void show_run_end(struct writer *w, char sign, const struct side *s)
{
    const struct json_object *root = json_root(s->doc);
    const char *stop = json_as_text(json_get(root, "stop"));
    writer_print(w, "%c the run: ", sign);
    writer_safe_text(w, stop ? stop : "?");
    writer_print(w, " pc=%" PRIu64, compare_number(root, "pc"));
    if (json_get(root, "steps")) writer_print(w, " steps=%" PRIu64, compare_number(root, "steps"));
    writer_char(w, '\n');
}

static void compare_show(struct cli *c, const struct side *a, const struct side *b, size_t at,
                         const char *what)
{
    struct writer *w = &c->out;
    if (c->value[OPT_JSON]) {
        json_bool(&c->json, "same", !what);
        json_uint(&c->json, "compared", at);
        if (!what) return;
        json_text(&c->json, "differs", what);
        if (a->first + at < a->count)
            json_uint(&c->json, "pc_a", compare_number(json_item(a->lines, a->first + at), "pc"));
        if (b->first + at < b->count)
            json_uint(&c->json, "pc_b", compare_number(json_item(b->lines, b->first + at), "pc"));
        return;
    }
    if (!what) {
        writer_print(w, "same: %zu lines\n", at);
        return;
    }
    writer_print(w, "%s differs after %zu lines that are the same\n", what, at);
    for (size_t i = at > CONTEXT ? at - CONTEXT : 0; i < at; i++)
        show_line(w, ' ', json_item(a->lines, a->first + i));
    struct window x = window_of(a, at), y = window_of(b, at);
    if (strcmp(what, "end")) {
        show_windows(w, &x, &y);
    } else {
        show_run_end(w, '-', a);
        show_run_end(w, '+', b);
    }
}

/* Tells whether both runs ended in the same way. The lines may be a part of the run, so the ends
 * in the documents are compared. An end without a number of steps, which compiled code gives,
 * matches any number. */
static bool same_run_end(const struct side *a, const struct side *b)
{
    const struct json_object *x = json_root(a->doc), *y = json_root(b->doc);
    uint64_t m = compare_number(x, "steps"), n = compare_number(y, "steps");
    return same_text(x, y, "stop") && compare_number(x, "pc") == compare_number(y, "pc") &&
           (m == n || m == UINT64_MAX || n == UINT64_MAX);
}

/* Names the first difference, after `same` equal lines. Returns NULL when nothing differs. */
static const char *first_difference(const struct side *a, const struct side *b, size_t *same)
{
    for (*same = 0; a->first + *same < a->count && b->first + *same < b->count; ++*same) {
        const struct json_object *x = json_item(a->lines, a->first + *same),
                                 *y = json_item(b->lines, b->first + *same);
        const char *what = compare_number(x, "step") != compare_number(y, "step") ? "step"
                           : compare_number(x, "pc") != compare_number(y, "pc")
                               ? "pc"
                               : compare_difference(x, y);
        if (what) return what;
    }
    if (a->count - a->first != b->count - b->first) return "length";
    return same_run_end(a, b) ? NULL : "end";
}

void trace_compare(struct cli *c)
{
    struct side a = {0}, b = {0};
    /* The word after the first is kept as an argument of the program. */
    const penta_option *second = c->format_options;
    if (c->word_count != 1 || c->format_option_count != 1 || strcmp(second->key, "argv")) {
        cli_usage(c, NULL, "--compare: two documents of penta trace --json");
        return;
    }
    if (side_open(c, c->words[0], &a) && side_open(c, second->value, &b)) {
        size_t same;
        compare_align(&a, &b);
        const char *what = first_difference(&a, &b, &same);
        compare_show(c, &a, &b, same, what);
        if (what) cli_fail(c, EXIT_NO);
    }
    json_doc_free(a.doc);
    json_doc_free(b.doc);
}
