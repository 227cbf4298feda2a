/* Tells which parts of a program ran: as a table by function, as a list of what never ran, in the form of lcov, and
 * as a text of counts to which later runs are added. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/bytes.h"
#include "base/codec/checksum.h"
#include "base/json/json_write.h"
#include "base/number.h"
#include "base/options.h"
#include "base/sanitize.h"
#include "penta/analysis/profile_struct.h"
#include "penta/debug.h"

struct line {
    penta_bytes file;
    uint64_t line, count; /* `count` is how often the most frequent instruction of the line ran. */
};

struct lines {
    const penta_profile *p;
    struct line *items;
    size_t count, capacity;
    penta_error *err;
};

static void take_line(void *user, const penta_line *line)
{
    struct lines *l = user;
    const struct code_map *m = l->p->structure.map;
    size_t i;
    if (l->err->code || !ARRAY_GROW(l->items, l->capacity, l->count, l->err)) return;
    struct line out = {line->file, line->line, 0};
    ARRAY_SEARCH(i, 0, m->count, m->insns[i].pc >= line->from);
    for (; i < m->count && m->insns[i].pc < line->to; i++)
        if (l->p->counts[i] > out.count) out.count = l->p->counts[i];
    l->items[l->count++] = out;
}

static int line_order(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    size_t n = x->file.size < y->file.size ? x->file.size : y->file.size;
    int order = n ? memcmp(x->file.data, y->file.data, n) : 0;
    if (!order) order = (x->file.size > y->file.size) - (x->file.size < y->file.size);
    return order ? order : (x->line > y->line) - (x->line < y->line);
}

/* Collects each line once, in the order of file and number. */
static bool lines_read(const penta_profile *p, struct lines *l, penta_error *err)
{
    *l = (struct lines){.p = p, .err = err};
    penta_lines(p->structure.map->module, take_line, l);
    if (l->count) qsort(l->items, l->count, sizeof *l->items, line_order);
    size_t n = 0;
    for (size_t i = 0; i < l->count; i++) {
        struct line *last = n ? &l->items[n - 1] : NULL;
        if (last && !line_order(last, &l->items[i])) {
            if (l->items[i].count > last->count) last->count = l->items[i].count;
        } else {
            l->items[n++] = l->items[i];
        }
    }
    l->count = n;
    return !err->code;
}

struct part { /* How much code a part has, and how much of it ran. */
    uint64_t all, run;
};

struct share {
    struct part instructions, blocks;
};

static struct share function_share(const penta_profile *p, const penta_function *f)
{
    const struct code_map *m = p->structure.map;
    struct share s = {0};
    for (size_t i = code_map_find(m, f->from); i < m->count && m->insns[i].pc < f->to; i++) {
        s.instructions.all++;
        s.instructions.run += p->counts[i] != 0;
        s.blocks.all += m->insns[i].starts_block;
        s.blocks.run += m->insns[i].starts_block && p->counts[i];
    }
    return s;
}

static double coverage_percent(struct part p)
{
    return p.all ? 100.0 * (double)p.run / (double)p.all : 100.0;
}

static void part_text(struct writer *w, struct part p)
{
    writer_print(w, "%6.1f%% %6" PRIu64 "/%-6" PRIu64, coverage_percent(p), p.run, p.all);
}

static void part_json(struct json *j, const char *key, struct part p)
{
    json_object(j, key);
    json_uint(j, "all", p.all);
    json_uint(j, "run", p.run);
    json_end(j);
}

static void table_text(const penta_profile *p, const struct share *all, struct part lines,
                       struct writer *w)
{
    const struct code_map *m = p->structure.map;
    writer_text(w, "         blocks          instructions   function\n");
    for (size_t i = 0; i < m->function_count; i++) {
        struct share s = function_share(p, &m->functions[i]);
        part_text(w, s.blocks);
        writer_text(w, "  ");
        part_text(w, s.instructions);
        writer_print(w, "  %s\n", m->functions[i].name);
    }
    part_text(w, all->blocks);
    writer_text(w, "  ");
    part_text(w, all->instructions);
    writer_text(w, "  all\n");
    if (lines.all)
        writer_print(w, "%6.1f%% of %" PRIu64 " lines\n", coverage_percent(lines), lines.all);
}

static void table_json(const penta_profile *p, const struct share *all, struct part lines,
                       struct writer *w)
{
    const struct code_map *m = p->structure.map;
    struct json j = {.out = w};
    json_object(&j, NULL);
    part_json(&j, "blocks", all->blocks);
    part_json(&j, "instructions", all->instructions);
    part_json(&j, "lines", lines);
    json_list(&j, "functions");
    for (size_t i = 0; i < m->function_count; i++) {
        struct share s = function_share(p, &m->functions[i]);
        json_object(&j, NULL);
        json_text(&j, "name", m->functions[i].name);
        json_uint(&j, "from", m->functions[i].from);
        json_uint(&j, "to", m->functions[i].to);
        part_json(&j, "blocks", s.blocks);
        part_json(&j, "instructions", s.instructions);
        json_end(&j);
    }
    json_finish(&j);
}

/* Prints the ranges of instructions that never ran, with their text. */
static void uncovered_text(const penta_profile *p, const struct lines *l, struct writer *w)
{
    const struct code_map *m = p->structure.map;
    size_t function = SIZE_MAX;
    for (size_t i = 0; i < m->count; i++) {
        if (p->counts[i]) continue;
        size_t here = m->blocks[m->insns[i].block].function;
        if (here != function) writer_print(w, "%s:\n", m->functions[here].name);
        function = here;
        writer_print(w, "%8" PRIu64 "  ", m->insns[i].pc);
        profile_print_at(p, m->insns[i].pc, w);
        writer_char(w, '\n');
    }
    for (size_t i = 0; i < l->count; i++) {
        if (l->items[i].count) continue;
        writer_safe(w, l->items[i].file);
        writer_print(w, ":%" PRIu64 "\n", l->items[i].line);
    }
}

static const penta_option_info cover_options[] = {OPTION_ROW("json", SWITCH, OPTION_PRINT, ""),
                                                  OPTION_ROW("uncovered", SWITCH, OPTION_PRINT, ""),
                                                  {.key = NULL}};

bool penta_profile_coverage(const penta_profile *p, const penta_option *options, size_t count,
                            penta_buffer *out, penta_error *err)
{
    *err = (penta_error){0};
    struct writer w = {0};
    struct lines l;
    struct share all = {0};
    const struct code_map *m = p->structure.map;
    if (!options_check(options, count, cover_options, OPTION_PRINT, err) ||
        !profile_counted(p, err))
        return false;
    bool ok = lines_read(p, &l, err);
    struct part lines = {.all = l.count};
    for (size_t i = 0; i < l.count; i++) lines.run += l.items[i].count != 0;
    for (size_t i = 0; i < m->function_count; i++) {
        struct share s = function_share(p, &m->functions[i]);
        all.instructions.all += s.instructions.all;
        all.instructions.run += s.instructions.run;
        all.blocks.all += s.blocks.all;
        all.blocks.run += s.blocks.run;
    }
    if (ok && option_text(options, count, "json"))
        table_json(p, &all, lines, &w);
    else if (ok && option_text(options, count, "uncovered"))
        uncovered_text(p, &l, &w);
    else if (ok)
        table_text(p, &all, lines, &w);
    free(l.items);
    return writer_give(&w, ok, out, err);
}

static void lcov_functions(const penta_profile *p, penta_bytes file, struct writer *w)
{
    const struct code_map *m = p->structure.map;
    penta_line at;
    for (size_t i = 0; i < m->function_count; i++) {
        const penta_function *f = &m->functions[i];
        if (!penta_line_at(m->module, f->from, &at) || !bytes_equal(at.file, file)) continue;
        writer_print(w, "FN:%" PRIu64 ",%s\nFNDA:%" PRIu64 ",%s\n", at.line, f->name,
                     p->counts[code_map_find(m, f->from)], f->name);
    }
}

bool penta_profile_lcov(const penta_profile *p, penta_buffer *out, penta_error *err)
{
    *err = (penta_error){0};
    struct writer w = {0};
    struct lines l = {0};
    bool ok = profile_counted(p, err) && lines_read(p, &l, err);
    if (ok && !l.count)
        ok = error_at(err, BASE_UNSUPPORTED, 0, "the program has no table of source lines");
    for (size_t i = 0; ok && i < l.count;) {
        penta_bytes file = l.items[i].file;
        uint64_t found = 0, hit = 0;
        writer_text(&w, "TN:\nSF:");
        writer_safe(&w, file);
        writer_char(&w, '\n');
        lcov_functions(p, file, &w);
        for (; i < l.count && bytes_equal(l.items[i].file, file); i++, found++) {
            writer_print(&w, "DA:%" PRIu64 ",%" PRIu64 "\n", l.items[i].line, l.items[i].count);
            hit += l.items[i].count != 0;
        }
        writer_print(&w, "LF:%" PRIu64 "\nLH:%" PRIu64 "\nend_of_record\n", found, hit);
    }
    free(l.items);
    return writer_give(&w, ok, out, err);
}

static uint32_t program_sum(const penta_profile *p)
{
    return checksum_crc32(p->structure.map->module->file);
}

bool penta_profile_write(const penta_profile *p, penta_buffer *out, penta_error *err)
{
    *err = (penta_error){0};
    struct writer w = {0};
    const struct code_map *m = p->structure.map;
    if (!profile_counted(p, err)) return false;
    writer_print(&w, "penta counts 1\nprogram %s %zu %08" PRIx32 "\n", m->module->driver->name,
                 m->module->file.size, program_sum(p));
    for (size_t i = 0; i < m->count; i++)
        if (p->counts[i])
            writer_print(&w, "%" PRIu64 " %" PRIu64 "\n", m->insns[i].pc, p->counts[i]);
    return writer_give(&w, true, out, err);
}

/* Reads a row "PC COUNT" and adds the count. */
static bool read_row(const struct code_map *m, penta_bytes row, uint64_t *counts)
{
    const uint8_t *space = memchr(row.data, ' ', row.size);
    uint64_t pc, n;
    if (!space) return false;
    size_t left = (size_t)(space - row.data);
    if (!number_parse_bytes(bytes_slice(row, 0, left), &pc) ||
        !number_parse_bytes(bytes_slice(row, left + 1, row.size), &n))
        return false;
    size_t i = code_map_find(m, pc);
    if (i == m->count) return false;
    counts[i] += n;
    return true;
}

bool penta_profile_read(penta_profile *p, penta_bytes text, penta_error *err)
{
    *err = (penta_error){0};
    const struct code_map *m = p->structure.map;
    struct writer head = {0};
    if (!profile_counted(p, err)) return false;
    uint64_t *counts = array_copy(p->counts, m->count + 1, sizeof *counts);
    writer_print(&head, "penta counts 1\nprogram %s %zu %08" PRIx32 "\n", m->module->driver->name,
                 m->module->file.size, program_sum(p));
    size_t skip = head.out.size;
    bool same = text.size >= skip && skip && !memcmp(text.data, head.out.data, skip);
    if (!counts || head.failed)
        error_at(err, BASE_MEMORY, 0, "no memory for counts");
    else if (!same)
        error_at(err, BASE_STATE, 0, "these are not counts of this program");
    writer_free(&head);
    for (size_t at = skip; !err->code && at < text.size;) {
        const uint8_t *end = memchr(text.data + at, '\n', text.size - at);
        size_t size = end ? (size_t)(end - text.data) - at : text.size - at;
        if (!end || !read_row(m, bytes_slice(text, at, size), counts))
            error_at(err, BASE_RANGE, at, "not a line of a place in the program and a count");
        at += size + 1;
    }
    if (err->code) {
        free(counts);
        return false;
    }
    free(p->counts);
    p->counts = counts;
    p->total = 0;
    for (size_t i = 0; i < m->count; i++) p->total += counts[i];
    return true;
}
