/* Shows a comparison of code as lines: below each other, or side by side. */
#include "base/palette.h"
#include <string.h>
#include "base/bytes.h"
#include "base/sanitize.h"
#include "penta/code_diff/code_diff.h"

static void show_head(const struct code_view *v, const struct code_diff *d,
                      const struct code_rows *r)
{
    const struct palette *p = v->palette;
    writer_print(v->out, "%s@@ ", p->label);
    code_names(v->out, d, r);
    writer_print(v->out, " @@%s\n", p->off);
    for (size_t i = 0; i < d->rename_count; i++) {
        const struct code_rename *n = &d->renames[i];
        if (n->part != r->part_a) continue;
        writer_print(v->out, "%s# ", p->note);
        writer_safe(v->out, n->from);
        writer_text(v->out, " -> ");
        writer_safe(v->out, n->to);
        writer_print(v->out, ", %llu time%s%s\n", (unsigned long long)n->pairs,
                     n->pairs == 1 ? "" : "s", p->off);
    }
}

/* Writes the line before the first row of a run that was moved. */
static void show_moved(const struct code_view *v, const struct code_diff *d,
                       const struct code_rows *r, size_t i)
{
    struct writer text = {0};
    code_moved(&text, d, r, i);
    if (text.out.size) {
        writer_print(v->out, "%s# ", v->palette->note);
        writer_append(v->out, &text);
        writer_print(v->out, "%s\n", v->palette->off);
    }
    v->out->failed |= text.failed;
    writer_free(&text);
}

static void show_line(const struct code_view *v, const char *style, char sign, penta_bytes text)
{
    writer_print(v->out, "%s%c ", style, sign);
    writer_safe(v->out, text);
    writer_print(v->out, "%s\n", *style ? v->palette->off : "");
}

static void show_row(const struct code_view *v, const struct code_diff *d,
                     const struct code_row *row)
{
    const struct palette *p = v->palette;
    bool moved = row->state == CODE_MOVED;
    if (row->state == CODE_SAME) {
        show_line(v, "", ' ', code_text(&d->b, row->b));
    } else if (row->state == CODE_RENAMED) {
        writer_print(v->out, "%s~ ", p->warning);
        writer_safe(v->out, code_text(&d->a, row->a));
        writer_text(v->out, "  ->  ");
        writer_safe(v->out, code_text(&d->b, row->b));
        writer_print(v->out, "%s\n", p->off);
    } else if (row->b == CODE_NONE) {
        show_line(v, moved ? p->note : p->error, moved ? '<' : '-', code_text(&d->a, row->a));
    } else {
        show_line(v, moved ? p->note : p->value, moved ? '>' : '+', code_text(&d->b, row->b));
    }
}

void code_show_text(void *user, const struct code_diff *d, const struct code_rows *r)
{
    const struct code_view *v = user;
    show_head(v, d, r);
    size_t from = 0, to = 0, before = 0;
    for (; code_hunk(r, &from, &to); from = before = to) {
        if (from > before) writer_text(v->out, "  ...\n");
        for (size_t i = from; i < to; i++) {
            show_moved(v, d, r, i);
            show_row(v, d, &r->rows[i]);
        }
    }
}

/* ---- side by side ---- */

/* Writes a text into a column of this width, with ".." at its end where it is too long. */
static void show_cell(const struct code_view *v, penta_bytes text, size_t width, bool last)
{
    struct writer safe = {0};
    writer_safe(&safe, text);
    text = writer_view(&safe);
    size_t columns = 0, size = 0, cut = 0;
    for (; size < text.size; size++) {
        if ((text.data[size] & 0xc0) == 0x80) continue;
        if (columns == width - 2) cut = size;
        if (++columns > width) break;
    }
    if (columns > width) {
        writer_bytes(v->out, text.data, cut);
        writer_text(v->out, "..");
    } else {
        writer_bytes(v->out, text.data, text.size);
        if (!last) writer_fill(v->out, ' ', width - columns);
    }
    v->out->failed |= safe.failed;
    writer_free(&safe);
}

static void show_both(const struct code_view *v, const struct code_diff *d,
                      const struct code_row *row)
{
    const struct palette *p = v->palette;
    bool left = row->b == CODE_NONE, right = row->a == CODE_NONE;
    char sign = left ? '<' : right ? '>' : row->state == CODE_RENAMED ? '~' : ' ';
    const char *style = row->state == CODE_SAME      ? ""
                        : row->state == CODE_MOVED   ? p->note
                        : row->state == CODE_RENAMED ? p->warning
                        : left                       ? p->error
                                                     : p->value;
    const penta_bytes none = {NULL, 0};
    size_t width = (v->width - 3) / 2;
    writer_text(v->out, style);
    show_cell(v, right ? none : code_text(&d->a, row->a), width, false);
    writer_print(v->out, " %c", sign);
    if (!left) {
        writer_char(v->out, ' ');
        show_cell(v, code_text(&d->b, row->b), width, true);
    }
    writer_print(v->out, "%s\n", *style ? p->off : "");
}

/* Removed rows stand beside added ones that follow them, as one line with the sign "|". */
static size_t show_changed(const struct code_view *v, const struct code_diff *d,
                           const struct code_rows *r, size_t i, size_t to)
{
    size_t added = i, end;
    while (added < to && r->rows[added].state == CODE_ALONE && r->rows[added].b == CODE_NONE)
        added++;
    for (end = added; end < to && r->rows[end].state == CODE_ALONE && r->rows[end].a == CODE_NONE;)
        end++;
    size_t width = (v->width - 3) / 2, left = added - i, right = end - added;
    for (size_t n = 0; n < left || n < right; n++) {
        if (n >= left || n >= right) {
            show_both(v, d, &r->rows[n < left ? i + n : added + n]);
            continue;
        }
        writer_text(v->out, v->palette->warning);
        show_cell(v, code_text(&d->a, r->rows[i + n].a), width, false);
        writer_text(v->out, " | ");
        show_cell(v, code_text(&d->b, r->rows[added + n].b), width, true);
        writer_print(v->out, "%s\n", v->palette->off);
    }
    return end;
}

void code_show_side(void *user, const struct code_diff *d, const struct code_rows *r)
{
    const struct code_view *v = user;
    show_head(v, d, r);
    size_t from = 0, to = 0, before = 0;
    for (; code_hunk(r, &from, &to); from = before = to) {
        if (from > before) writer_text(v->out, "...\n");
        for (size_t i = from; i < to;) {
            show_moved(v, d, r, i);
            if (r->rows[i].state == CODE_ALONE)
                i = show_changed(v, d, r, i, to);
            else
                show_both(v, d, &r->rows[i++]);
        }
    }
}
