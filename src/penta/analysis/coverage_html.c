/* Writes coverage as a page: the listing, with how often each instruction ran. The page is one file without a
 * script. */
#include <inttypes.h>
#include "base/options.h"
#include "penta/analysis/markup.h"
#include "penta/analysis/profile_struct.h"

static const char style[] =
    "<style>:root{color-scheme:light dark;--y:#e2f3e2;--n:#f8dcdc;--g:#777}"
    "@media(prefers-color-scheme:dark){:root{--y:#17361c;--n:#4a1d1d;--g:#999}}"
    "body{font:15px sans-serif;max-width:70em;margin:2em auto;padding:0 1em}"
    "table{border-collapse:collapse;font:13px monospace;width:100%}"
    "td{padding:1px .8em;white-space:pre}td.c,td.p{text-align:right;color:var(--g);width:8em}"
    "tr.y{background:var(--y)}tr.n{background:var(--n)}h2{font-size:1.1em}"
    "h2 small{color:var(--g);font-weight:normal}</style>\n";

static void coverage_html_function(const penta_profile *p, const penta_function *f,
                                   struct writer *w)
{
    const struct code_map *m = p->structure.map;
    size_t first = code_map_find(m, f->from), run = 0;
    for (size_t i = first; i < m->count && m->insns[i].pc < f->to; i++) run += p->counts[i] != 0;
    writer_text(w, "<h2>");
    markup_text(w, f->name);
    writer_print(w, " <small>%zu of %zu instructions</small></h2>\n<table>\n", run,
                 f->instructions);
    for (size_t i = first; i < m->count && m->insns[i].pc < f->to; i++) {
        struct writer text = {0};
        profile_print_at(p, m->insns[i].pc, &text);
        writer_print(w,
                     "<tr class=\"%s\"><td class=\"c\">%" PRIu64 "</td><td class=\"p\">%" PRIu64
                     "</td><td>",
                     p->counts[i] ? "y" : "n", p->counts[i], m->insns[i].pc);
        markup_bytes(w, writer_view(&text));
        writer_text(w, "</td></tr>\n");
        w->failed |= text.failed;
        writer_free(&text);
    }
    writer_text(w, "</table>\n");
}

static const penta_option_info html_options[] = {
    OPTION_ROW("title", TEXT("TEXT"), OPTION_PRINT, ""), {.key = NULL}};

bool penta_profile_html(const penta_profile *p, const penta_option *options, size_t count,
                        penta_buffer *out, penta_error *err)
{
    *err = (penta_error){0};
    struct writer w = {0};
    const char *title = option_text(options, count, "title");
    const struct code_map *m = p->structure.map;
    size_t run = 0;
    if (!options_check(options, count, html_options, OPTION_PRINT, err) || !profile_counted(p, err))
        return false;
    if (!title) title = penta_module_format(m->module);
    for (size_t i = 0; i < m->count; i++) run += p->counts[i] != 0;
    writer_text(&w, "<!DOCTYPE html>\n<html lang=\"en\"><meta charset=\"utf-8\">"
                    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                    "style-src 'unsafe-inline'\"><title>");
    markup_text(&w, title);
    writer_text(&w, "</title>\n");
    writer_text(&w, style);
    writer_text(&w, "<h1>");
    markup_text(&w, title);
    writer_print(&w, "</h1>\n<p>%zu of %zu instructions ran.</p>\n", run, m->count);
    for (size_t i = 0; i < m->function_count; i++) coverage_html_function(p, &m->functions[i], &w);
    writer_text(&w, "</html>\n");
    return writer_give(&w, true, out, err);
}
