/* Writes source lines into a report, if the file has a table of them. [row, line] stands for
 * each row at which another line begins, and [row, line, file] when that line is in another file
 * than the line before. */
#include <stdlib.h>
#include "base/array.h"
#include "base/bytes.h"
#include "base/sanitize.h"
#include "penta/debug.h"
#include "penta/report/report.h"

struct lines {
    const struct code_map *map;
    size_t rows;
    struct line {
        size_t row;
        penta_line at;
    } * items;
    size_t count, capacity;
    penta_error *err;
};

static void lines_take(void *user, const penta_line *line)
{
    struct lines *l = user;
    size_t row;
    ARRAY_SEARCH(row, 0, l->rows, l->map->insns[row].pc >= line->from);
    if (row == l->rows || l->map->insns[row].pc >= line->to || !line->line) return;
    if (ARRAY_GROW(l->items, l->capacity, l->count, l->err))
        l->items[l->count++] = (struct line){row, *line};
}

static int lines_order(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    if (x->row != y->row) return x->row < y->row ? -1 : 1;
    return (x->at.line > y->at.line) - (x->at.line < y->at.line);
}

static void lines_write(struct report *r, const struct lines *l)
{
    const struct line *before = NULL;
    struct writer name = {0};
    for (size_t i = 0; i < l->count; i++) {
        const struct line *now = &l->items[i];
        bool same_file = before && bytes_equal(now->at.file, before->at.file);
        if (before && (now->row == before->row || (same_file && now->at.line == before->at.line)))
            continue;
        json_list(r->json, NULL);
        json_uint(r->json, NULL, now->row);
        json_uint(r->json, NULL, now->at.line);
        if (!same_file) {
            name.out.size = 0;
            writer_safe(&name, now->at.file);
            json_string(r->json, NULL, writer_view(&name));
        }
        json_end(r->json);
        before = now;
    }
    r->json->out->failed |= name.failed;
    writer_free(&name);
}

void report_lines(struct report *r, const struct code_map *map, size_t rows)
{
    struct lines l = {.map = map, .rows = rows, .err = r->err};
    penta_lines(r->in->module, lines_take, &l);
    if (l.count) qsort(l.items, l.count, sizeof *l.items, lines_order);
    json_list(r->json, "lines");
    lines_write(r, &l);
    json_end(r->json);
    free(l.items);
}
