/* Puts the instructions of two functions into rows, in the order of both files, and chooses the rows that are shown. */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "penta/code_diff/code_diff.h"

enum { ROWS_AROUND = 3 }; /* the equal rows that are shown around a difference */

static bool rows_add(const struct code_diff *d, struct code_rows *r, size_t a, size_t b)
{
    const struct code_insn_text *t = a == CODE_NONE ? &d->b.insns[b] : &d->a.insns[a];
    if (!ARRAY_GROW(r->rows, r->capacity, r->count, d->err)) return false;
    r->rows[r->count++] = (struct code_row){a, b, t->state};
    r->changed += t->state != CODE_SAME;
    return true;
}

static bool rows_fill(const struct code_diff *d, struct code_rows *r)
{
    static const struct code_part none = {0};
    const struct code_part *p = r->part_a == CODE_NONE ? &none : &d->a.parts[r->part_a];
    const struct code_part *q = r->part_b == CODE_NONE ? &none : &d->b.parts[r->part_b];
    size_t i = p->first, j = q->first, a_end = i + p->count, b_end = j + q->count;
    bool ok = true;
    r->count = r->changed = 0;
    while (ok && (i < a_end || j < b_end)) {
        if (i < a_end && !code_paired(&d->a.insns[i]))
            ok = rows_add(d, r, i++, CODE_NONE);
        else if (j < b_end && !code_paired(&d->b.insns[j]))
            ok = rows_add(d, r, CODE_NONE, j++);
        else
            ok = rows_add(d, r, i++, j++);
    }
    return ok;
}

static bool rows_visit(const struct code_diff *d, struct code_rows *r, size_t a, size_t b,
                       code_each *each, void *user)
{
    r->part_a = a;
    r->part_b = b;
    if (!rows_fill(d, r)) return false;
    r->renamed = false;
    if (a != CODE_NONE && b != CODE_NONE) {
        const penta_function *f = &d->a.map->functions[a], *g = &d->b.map->functions[b];
        r->renamed = f->named && g->named && strcmp(f->name, g->name);
    }
    if (r->changed || r->renamed) each(user, d, r);
    return true;
}

bool code_visit(const struct code_diff *d, code_each *each, void *user, size_t *differences)
{
    struct code_rows r = {0};
    bool ok = true;
    *differences = 0;
    for (size_t i = 0; ok && i < d->a.map->function_count; i++) {
        ok = rows_visit(d, &r, i, d->a.parts[i].partner, each, user);
        *differences += r.changed + r.renamed;
    }
    for (size_t j = 0; ok && j < d->b.map->function_count; j++) {
        if (d->b.parts[j].partner != CODE_NONE) continue;
        ok = rows_visit(d, &r, CODE_NONE, j, each, user);
        *differences += r.changed;
    }
    free(r.rows);
    return ok;
}

const char *code_part_name(const struct code_side *s, size_t part)
{
    return part == CODE_NONE ? "" : s->map->functions[part].name;
}

void code_names(struct writer *w, const struct code_diff *d, const struct code_rows *r)
{
    if (r->part_a == CODE_NONE) {
        writer_print(w, "%s, only in the second file", code_part_name(&d->b, r->part_b));
        return;
    }
    writer_text(w, code_part_name(&d->a, r->part_a));
    if (r->part_b == CODE_NONE)
        writer_text(w, ", only in the first file");
    else if (r->renamed)
        writer_print(w, " -> %s", code_part_name(&d->b, r->part_b));
}

/* The instruction of the other file that a moved one of this row is. */
static size_t row_partner(const struct code_diff *d, const struct code_row *row)
{
    return row->a == CODE_NONE ? d->b.insns[row->b].partner : d->a.insns[row->a].partner;
}

static bool rows_follow(const struct code_diff *d, const struct code_row *x,
                        const struct code_row *y)
{
    return x->state == CODE_MOVED && y->state == CODE_MOVED &&
           (x->a == CODE_NONE) == (y->a == CODE_NONE) && row_partner(d, y) == row_partner(d, x) + 1;
}

void code_moved(struct writer *w, const struct code_diff *d, const struct code_rows *r, size_t i)
{
    const struct code_row *row = &r->rows[i];
    size_t count = 1, at = row_partner(d, row);
    if (row->state != CODE_MOVED || (i && rows_follow(d, row - 1, row))) return;
    while (i + count < r->count && rows_follow(d, &row[count - 1], &row[count])) count++;
    bool here = row->a == CODE_NONE;
    const struct code_side *s = here ? &d->a : &d->b;
    uint32_t block = s->map->insns[at].block;
    size_t part = s->map->blocks[block].function;
    writer_print(w, "%zu instruction%s moved %s %s", count, count == 1 ? "" : "s",
                 here ? "from" : "to", code_part_name(s, part));
    if (at != s->parts[part].first)
        writer_print(w, ".block%zu", block - s->map->functions[part].first_block);
}

bool code_hunk(const struct code_rows *r, size_t *from, size_t *to)
{
    size_t first = *from, quiet = 0;
    while (first < r->count && r->rows[first].state == CODE_SAME) first++;
    if (first >= r->count) return false;
    size_t end = first;
    for (; end < r->count && quiet <= 2 * ROWS_AROUND; end++)
        quiet = r->rows[end].state == CODE_SAME ? quiet + 1 : 0;
    if (quiet > ROWS_AROUND) end -= quiet - ROWS_AROUND;
    *from = first - *from > ROWS_AROUND ? first - ROWS_AROUND : *from;
    *to = end;
    return true;
}
