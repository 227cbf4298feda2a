/* Prints a profile as a table by function, block, source line or instruction. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/bytes.h"
#include "base/json/json_write.h"
#include "base/options.h"
#include "base/sanitize.h"
#include "penta/analysis/profile_struct.h"
#include "penta/debug.h"

enum by { BY_FUNCTION, BY_BLOCK, BY_LINE, BY_INSTRUCTION };
static const char *const by_names[] = {"function", "block", "line", "instruction", NULL};

struct row {
    uint64_t from, to; /* the pcs of the row; for a line those of its first instructions */
    uint64_t count, cost;
    uint64_t total, total_cost, calls; /* for functions, these include everything that they call */
    size_t function;
    penta_bytes file; /* the file, for lines */
    uint64_t line;
};

struct table {
    const penta_profile *p;
    const struct code_map *map;
    enum by by;
    bool by_cost;
    struct row *rows;
    size_t count, capacity;
    penta_error *err;
};

static struct row *profile_table_add(struct table *t)
{
    if (!ARRAY_GROW(t->rows, t->capacity, t->count, t->err)) return NULL;
    t->rows[t->count] = (struct row){0};
    return &t->rows[t->count++];
}

/* Adds up totals. They count a function once for each path, however often it is in that path. */
static bool add_totals(struct table *t)
{
    const penta_profile *p = t->p;
    uint64_t *counts = profile_inclusive(p, false), *costs = profile_inclusive(p, true);
    bool ok = counts && costs;
    if (!ok) error_at(t->err, BASE_MEMORY, 0, "no memory for a table");
    for (size_t i = 0; ok && i < p->path_count; i++) {
        size_t function = p->paths[i].function;
        if (function == SIZE_MAX) continue;
        t->rows[function].calls += p->paths[i].calls;
        size_t above = p->paths[i].parent;
        while (above != SIZE_MAX && p->paths[above].function != function)
            above = p->paths[above].parent;
        if (above != SIZE_MAX) continue;
        t->rows[function].total += counts[i];
        t->rows[function].total_cost += costs[i];
    }
    free(counts);
    free(costs);
    return ok;
}

static bool rows_of_code(struct table *t)
{
    const struct code_map *m = t->map;
    for (size_t i = 0; i < m->count && !t->err->code; i++) {
        const struct code_insn *in = &m->insns[i];
        bool starts = t->by == BY_INSTRUCTION || (t->by == BY_BLOCK && in->starts_block) ||
                      (t->by == BY_FUNCTION && in->starts_function);
        struct row *r = starts ? profile_table_add(t) : &t->rows[t->count - 1];
        if (!r) return false;
        if (starts) r->from = in->pc;
        r->to = in->next;
        r->function = m->blocks[in->block].function;
        r->cost += t->p->costs[i];
        /* The count of a block is how often it ran, that of a function how many instructions ran. Samples are added
         * up. */
        if (starts || t->by == BY_FUNCTION || t->p->sampled) r->count += t->p->counts[i];
    }
    return !t->err->code && (t->by != BY_FUNCTION || add_totals(t));
}

static void add_line(void *user, const penta_line *line)
{
    struct table *t = user;
    const struct code_map *m = t->map;
    struct row *r = t->err->code ? NULL : profile_table_add(t);
    if (!r) return;
    size_t i;
    *r = (struct row){.from = line->from, .to = line->to, .file = line->file, .line = line->line};
    ARRAY_SEARCH(i, 0, m->count, m->insns[i].pc >= line->from);
    if (i < m->count) r->function = m->blocks[m->insns[i].block].function;
    for (; i < m->count && m->insns[i].pc < line->to; i++) {
        r->count += t->p->counts[i];
        r->cost += t->p->costs[i];
    }
}

static int by_line(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    size_t n = x->file.size < y->file.size ? x->file.size : y->file.size;
    int order = n ? memcmp(x->file.data, y->file.data, n) : 0;
    if (!order) order = (x->file.size > y->file.size) - (x->file.size < y->file.size);
    if (!order) order = (x->line > y->line) - (x->line < y->line);
    return order ? order : (x->from > y->from) - (x->from < y->from);
}

/* Makes the rows of source lines. The instructions of a line may be in several places; they
 * become one row. */
static bool rows_of_lines(struct table *t)
{
    penta_lines(t->map->module, add_line, t);
    if (t->count) qsort(t->rows, t->count, sizeof *t->rows, by_line);
    size_t n = 0;
    for (size_t i = 0; i < t->count; i++) {
        struct row *last = n ? &t->rows[n - 1] : NULL, *r = &t->rows[i];
        if (last && last->line == r->line && bytes_equal(last->file, r->file)) {
            last->count += r->count;
            last->cost += r->cost;
        } else {
            t->rows[n++] = *r;
        }
    }
    t->count = n;
    return !t->err->code;
}

/* Orders rows by count, the largest first, then by their place in the code. */
static int by_count(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    if (x->count != y->count) return x->count < y->count ? 1 : -1;
    return (x->from > y->from) - (x->from < y->from);
}

static int by_cost(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    return x->cost != y->cost ? (x->cost < y->cost ? 1 : -1) : by_count(a, b);
}

static void drop_unused(struct table *t)
{
    size_t n = 0;
    for (size_t i = 0; i < t->count; i++)
        if (t->rows[i].count || t->rows[i].cost || t->rows[i].total) t->rows[n++] = t->rows[i];
    t->count = n;
    if (n) qsort(t->rows, n, sizeof *t->rows, t->by_cost ? by_cost : by_count);
}

static void row_name(const struct table *t, const struct row *r, struct writer *w)
{
    const penta_function *f = &t->map->functions[r->function];
    if (t->by == BY_LINE) {
        writer_safe(w, r->file);
        writer_print(w, ":%" PRIu64, r->line);
        return;
    }
    writer_text(w, f->name);
    if (r->from > f->from) writer_print(w, "+%" PRIu64, r->from - f->from);
    if (t->by != BY_INSTRUCTION) return;
    writer_text(w, "  ");
    profile_print_at(t->p, r->from, w);
}

static double profile_table_share(uint64_t part, uint64_t all)
{
    return all ? 100.0 * (double)part / (double)all : 0;
}

static double row_share(const struct table *t, const struct row *r)
{
    uint64_t weight = t->by_cost ? r->cost : r->count;
    if (t->by == BY_BLOCK && !t->by_cost &&
        !t->p->sampled) { /* This is how many instructions the block executed. */
        size_t block = t->map->insns[code_map_find(t->map, r->from)].block;
        weight *= t->map->blocks[block].instructions;
    }
    return profile_table_share(weight, t->by_cost ? t->p->total_cost : t->p->total);
}

static void table_text(const struct table *t, size_t rows, struct writer *w)
{
    const penta_profile *p = t->p;
    bool function = t->by == BY_FUNCTION, cost = p->cost_name != NULL, calls = !p->sampled;
    bool times = (t->by == BY_BLOCK || t->by == BY_INSTRUCTION) && !p->sampled;
    const char *counted = times ? "times" : profile_unit(p);
    writer_print(w, "%" PRIu64 " %s", p->total, profile_unit(p));
    if (cost) writer_print(w, ", %" PRIu64 " %s", p->total_cost, p->cost_name);
    writer_print(w, "\n\n%7s %14s", "share", counted);
    if (cost) writer_print(w, " %14s", p->cost_name);
    if (function) writer_print(w, " %14s", "with calls");
    if (function && calls) writer_print(w, " %9s", "calls");
    writer_print(w, "  %s\n", by_names[t->by]);
    for (size_t i = 0; i < rows; i++) {
        const struct row *r = &t->rows[i];
        writer_print(w, "%6.2f%% %14" PRIu64, row_share(t, r), r->count);
        if (cost) writer_print(w, " %14" PRIu64, r->cost);
        if (function) writer_print(w, " %14" PRIu64, t->by_cost ? r->total_cost : r->total);
        if (function && calls) writer_print(w, " %9" PRIu64, r->calls);
        writer_text(w, "  ");
        row_name(t, r, w);
        writer_char(w, '\n');
    }
    if (rows < t->count) writer_print(w, "%zu more\n", t->count - rows);
}

static void row_json(const struct table *t, const struct row *r, struct json *j)
{
    struct writer name = {0};
    row_name(t, r, &name);
    json_object(j, NULL);
    json_string(j, "name", writer_view(&name));
    json_uint(j, "from", r->from);
    json_uint(j, "to", r->to);
    json_uint(j, t->p->sampled ? "samples" : "executions", r->count);
    json_float(j, "share", row_share(t, r));
    if (t->p->cost_name) json_uint(j, t->p->cost_name, r->cost);
    if (t->by == BY_FUNCTION) {
        json_uint(j, "total", r->total);
        if (!t->p->sampled) json_uint(j, "calls", r->calls);
    }
    if (t->by == BY_LINE) {
        json_string(j, "file", r->file);
        json_uint(j, "line", r->line);
    }
    json_end(j);
    j->out->failed |= name.failed;
    writer_free(&name);
}

static void table_json(const struct table *t, size_t rows, struct writer *w)
{
    struct json j = {.out = w};
    json_object(&j, NULL);
    json_text(&j, "unit", profile_unit(t->p));
    json_uint(&j, "total", t->p->total);
    if (t->p->cost_name) json_uint(&j, t->p->cost_name, t->p->total_cost);
    json_text(&j, "by", by_names[t->by]);
    json_uint(&j, "row_count", t->count);
    json_list(&j, "rows");
    for (size_t i = 0; i < rows; i++) row_json(t, &t->rows[i], &j);
    json_finish(&j);
}

static const penta_option_info table_options[] = {
    OPTION_ROW("by", WORDS("function|block|line|instruction"), OPTION_PRINT, ""),
    OPTION_ROW("weight", TEXT("NAME"), OPTION_PRINT, ""),
    OPTION_ROW("top", SIZE("N", NULL), OPTION_PRINT, ""),
    OPTION_ROW("json", SWITCH, OPTION_PRINT, ""),
    {.key = NULL}};

static bool read_by_option(const char *text, enum by *by, penta_error *err)
{
    for (size_t i = 0; by_names[i]; i++) {
        if (text && strcmp(text, by_names[i])) continue;
        *by = (enum by)i;
        return true;
    }
    return error_at(err, BASE_OPTION_VALUE, 0,
                    "by '%.20s' is none of function, block, line, instruction", text);
}

bool penta_profile_table(const penta_profile *p, const penta_option *options, size_t count,
                         penta_buffer *out, penta_error *err)
{
    *err = (penta_error){0};
    struct table t = {.p = p, .map = p->structure.map, .err = err};
    struct writer w = {0};
    uint64_t top = UINT64_MAX;
    if (!options_check(options, count, table_options, OPTION_PRINT, err) ||
        !read_by_option(option_text(options, count, "by"), &t.by, err) ||
        !profile_weight(p, options, count, &t.by_cost, err) ||
        !option_uint(options, count, "top", &top, err))
        return false;
    bool ok = t.by == BY_LINE ? rows_of_lines(&t) : rows_of_code(&t);
    if (ok) drop_unused(&t);
    size_t rows = top < t.count ? (size_t)top : t.count;
    if (ok && option_text(options, count, "json"))
        table_json(&t, rows, &w);
    else if (ok)
        table_text(&t, rows, &w);
    free(t.rows);
    return writer_give(&w, ok, out, err);
}
