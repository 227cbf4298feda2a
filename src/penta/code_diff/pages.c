/* Shows a comparison of code as a page for a browser, without a script, and as JSON. */
#include "base/bytes.h"
#include "base/json/json_write.h"
#include "penta/analysis/markup.h"
#include "penta/code_diff/code_diff.h"

static const char style[] =
    "<style>:root{color-scheme:light dark;--a:#e2f3e2;--r:#f8dcdc;--c:#fdf3d0;--m:#dfe9fb;--g:#777}"
    "@media(prefers-color-scheme:dark){:root{--a:#17361c;--r:#4a1d1d;--c:#443a12;--m:#1b2c4d;"
    "--g:#999}}"
    "body{font:15px sans-serif;max-width:90em;margin:2em auto;padding:0 1em}"
    "table{border-collapse:collapse;font:13px monospace;width:100%;table-layout:fixed}"
    "td{padding:1px .8em;white-space:pre-wrap;overflow-wrap:anywhere}"
    "td.p{text-align:right;color:var(--g);width:6em}td.n{color:var(--g)}"
    "td.a{background:var(--a)}td.r{background:var(--r)}td.c{background:var(--c)}"
    "td.m{background:var(--m)}h2{font-size:1.1em}</style>\n";

void code_html_head(const struct code_view *v)
{
    writer_text(v->out,
                "<!DOCTYPE html>\n<html lang=\"en\"><meta charset=\"utf-8\">"
                "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                "style-src 'unsafe-inline'\"><title>");
    for (int i = 0; i < 2; i++) {
        markup_text(v->out, v->title_a);
        writer_text(v->out, " and ");
        markup_text(v->out, v->title_b);
        if (i) break;
        writer_text(v->out, "</title>\n");
        writer_text(v->out, style);
        writer_text(v->out, "<h1>");
    }
    writer_text(v->out, "</h1>\n");
}

static void html_cell(struct writer *w, const struct code_side *s, size_t i, const char *class)
{
    if (i == CODE_NONE) {
        writer_text(w, "<td class=\"p\"></td><td></td>");
        return;
    }
    writer_print(w, "<td class=\"p\">%llu</td><td class=\"%s\">",
                 (unsigned long long)s->map->insns[i].pc, class);
    markup_bytes(w, code_text(s, i));
    writer_text(w, "</td>");
}

static void html_note(struct writer *w, penta_bytes text)
{
    if (!text.size) return;
    writer_text(w, "<tr><td class=\"p\"></td><td class=\"n\" colspan=\"3\">");
    markup_bytes(w, text);
    writer_text(w, "</td></tr>\n");
}

static void html_row(struct writer *w, const struct code_diff *d, const struct code_row *row)
{
    static const char *const classes[] = {
        [CODE_SAME] = "s", [CODE_RENAMED] = "c", [CODE_MOVED] = "m"};
    bool alone = row->state == CODE_ALONE;
    writer_text(w, "<tr>");
    html_cell(w, &d->a, row->a, alone ? "r" : classes[row->state]);
    html_cell(w, &d->b, row->b, alone ? "a" : classes[row->state]);
    writer_text(w, "</tr>\n");
}

void code_show_html(void *user, const struct code_diff *d, const struct code_rows *r)
{
    const struct code_view *v = user;
    struct writer text = {0};
    code_names(&text, d, r);
    writer_text(v->out, "<h2>");
    markup_bytes(v->out, writer_view(&text));
    writer_text(v->out, "</h2>\n<table><colgroup><col style=\"width:6em\"><col><col "
                        "style=\"width:6em\"><col></colgroup>\n");
    for (size_t i = 0; i < d->rename_count; i++) {
        const struct code_rename *n = &d->renames[i];
        if (n->part != r->part_a) continue;
        text.out.size = 0;
        writer_bytes(&text, n->from.data, n->from.size);
        writer_text(&text, " -> ");
        writer_bytes(&text, n->to.data, n->to.size);
        html_note(v->out, writer_view(&text));
    }
    size_t from = 0, to = 0, before = 0;
    for (; code_hunk(r, &from, &to); from = before = to) {
        if (from > before) html_note(v->out, bytes_of("..."));
        for (size_t i = from; i < to; i++) {
            text.out.size = 0;
            code_moved(&text, d, r, i);
            html_note(v->out, writer_view(&text));
            html_row(v->out, d, &r->rows[i]);
        }
    }
    writer_text(v->out, "</table>\n");
    v->out->failed |= text.failed;
    writer_free(&text);
}

/* ---- JSON ---- */

static void json_place(struct json *j, const char *key, const struct code_side *s, size_t i)
{
    json_object(j, key);
    json_text(j, "function", code_part_name(s, s->map->blocks[s->map->insns[i].block].function));
    json_uint(j, "pc", s->map->insns[i].pc);
    json_end(j);
}

static void json_row(struct json *j, const struct code_diff *d, const struct code_row *row)
{
    const char *change = row->state == CODE_MOVED     ? "moved"
                         : row->state == CODE_RENAMED ? "renamed"
                         : row->b == CODE_NONE        ? "removed"
                                                      : "added";
    json_object(j, NULL);
    json_text(j, "change", change);
    if (row->a != CODE_NONE) {
        json_uint(j, "pc_a", d->a.map->insns[row->a].pc);
        json_string(j, "text_a", code_text(&d->a, row->a));
    }
    if (row->b != CODE_NONE) {
        json_uint(j, "pc_b", d->b.map->insns[row->b].pc);
        json_string(j, "text_b", code_text(&d->b, row->b));
    }
    if (row->state == CODE_MOVED && row->b == CODE_NONE)
        json_place(j, "to", &d->b, d->a.insns[row->a].partner);
    else if (row->state == CODE_MOVED)
        json_place(j, "from", &d->a, d->b.insns[row->b].partner);
    json_end(j);
}

void code_show_json(void *user, const struct code_diff *d, const struct code_rows *r)
{
    struct json *j = user;
    json_object(j, NULL);
    json_text(j, "change",
              r->part_a == CODE_NONE   ? "added"
              : r->part_b == CODE_NONE ? "removed"
                                       : "changed");
    if (r->part_a != CODE_NONE) json_text(j, "name_a", code_part_name(&d->a, r->part_a));
    if (r->part_b != CODE_NONE) json_text(j, "name_b", code_part_name(&d->b, r->part_b));
    json_list(j, "registers");
    for (size_t i = 0; i < d->rename_count; i++) {
        const struct code_rename *n = &d->renames[i];
        if (n->part != r->part_a) continue;
        json_object(j, NULL);
        json_string(j, "a", n->from);
        json_string(j, "b", n->to);
        json_uint(j, "count", n->pairs);
        json_end(j);
    }
    json_end(j);
    json_list(j, "instructions");
    for (size_t i = 0; i < r->count; i++)
        if (r->rows[i].state != CODE_SAME) json_row(j, d, &r->rows[i]);
    json_end(j);
    json_end(j);
}
