/* Writes the page about results, an HTML file without scripts that needs no network. Every text
 * that comes from a file passes page_text. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/array.h"
#include "base/bytes.h"
#include "base/number.h"
#include "batch/lines/job.h"
#include "batch/after/page.h"
#include "batch/after/shards.h"
#include "batch/list/source.h"
#include "penta/batch.h"

enum { PAGE_ROWS = 30, PAGE_SLOWEST = 20, PAGE_SIZES = 48, PAGE_FAILURES = 100, PAGE_GRID = 400 };

struct page_slow {
    uint64_t n, micros;
    char *source;
};
struct page_point { /* A point of a sweep. */
    char *name;
    double accuracy;
};

struct page {
    const char *results;
    uint64_t lines, bytes;
    struct tally verdicts, formats, findings, instructions;
    uint64_t sizes[PAGE_SIZES]; /* element i counts the files of 2^i bytes and more, but fewer
                                 * than 2^(i+1) */
    struct page_slow slowest[PAGE_SLOWEST];
    size_t slow_count;
    struct writer failures; /* rows of the table of failures, in the order of the lines */
    size_t failed;
    struct page_point *points;
    size_t point_count, point_capacity;
    struct writer source;
};

static void page_text(struct writer *out, penta_bytes text)
{
    for (size_t i = 0; i < text.size; i++) {
        uint8_t c = text.data[i];
        if (c == '<' || c == '>' || c == '&' || c == '"' || c == '\'' || c < 0x20 || c == 0x7f)
            writer_print(out, c < 0x20 || c == 0x7f ? "\\x%02x" : "&#%u;", c);
        else
            writer_char(out, (char)c);
    }
}

/* Writes the name of a source as a link to it. A member of an archive links to the archive. */
static void page_link(struct writer *out, penta_bytes source)
{
    const uint8_t *mark = source.size ? memchr(source.data, SOURCE_MEMBER_MARK, source.size) : NULL;
    penta_bytes path = mark ? bytes_slice(source, 0, (size_t)(mark - source.data)) : source;
    writer_text(out, "<a href=\"");
    if (path.size && path.data[0] != '/') writer_text(out, "./");
    for (size_t i = 0; i < path.size; i++) {
        uint8_t c = path.data[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     (c && strchr("/-_.~", c));
        writer_print(out, plain ? "%c" : "%%%02X", c);
    }
    writer_text(out, "\">");
    page_text(out, source);
    writer_text(out, "</a>");
}

static penta_bytes page_source(struct page *p, penta_bytes quoted)
{
    p->source.out.size = 0;
    json_unquote(quoted, &p->source);
    return writer_view(&p->source);
}

static penta_bytes page_unquoted(penta_bytes quoted)
{
    return quoted.size > 1 ? bytes_slice(quoted, 1, quoted.size - 2) : (penta_bytes){0};
}

static void page_failure(struct page *p, penta_bytes source, penta_bytes verdict,
                         penta_bytes findings)
{
    if (p->failed++ >= PAGE_FAILURES) return;
    writer_text(&p->failures, "<tr><td>");
    page_text(&p->failures, verdict);
    writer_text(&p->failures, "<td>");
    page_link(&p->failures, source);
    writer_text(&p->failures, "<td>");
    page_text(&p->failures,
              findings.size > 2
                  ? bytes_slice(findings, 1, findings.size < 82 ? findings.size - 2 : 80)
                  : (penta_bytes){0});
    writer_char(&p->failures, '\n');
}

/* Adds the counts of instructions in a text such as {"add":3,"jump":1}. */
static void page_instructions(struct page *p, penta_bytes uses, penta_bytes source)
{
    size_t at = 1;
    while (at < uses.size && uses.data[at] == '"') {
        const uint8_t *end = memchr(uses.data + at + 1, '"', uses.size - at - 1);
        if (!end) return;
        penta_bytes name = {uses.data + at + 1, (size_t)(end - uses.data) - at - 1};
        at += name.size + 3;
        uint64_t count = 0;
        size_t start = at;
        for (; at < uses.size && uses.data[at] >= '0' && uses.data[at] <= '9'; at++)
            count = count * 10 + (uint64_t)(uses.data[at] - '0');
        if (at == start) return;
        tally_add(&p->instructions, name, count, 0, source);
        at++;
    }
}

static void page_point_add(struct page *p, penta_bytes source, penta_bytes grid,
                           penta_bytes accuracy)
{
    penta_error err = {0};
    char number[40], *name = NULL;
    if (accuracy.size >= sizeof number || p->point_count == PAGE_GRID) return;
    bytes_copy(number, accuracy);
    number[accuracy.size] = 0;
    if (!ARRAY_GROW(p->points, p->point_capacity, p->point_count, &err) ||
        asprintf(&name, "%.*s %.*s", BYTES_ARG(source, 1000), BYTES_ARG(grid, 1000)) < 0)
        return;
    p->points[p->point_count++] = (struct page_point){name, strtod(number, NULL)};
}

static void page_line(struct page *p, penta_bytes line)
{
    uint64_t size = 0;
    struct record_head head;
    if (!record_head_read(line, &head)) return;
    penta_bytes verdict = page_unquoted(json_member_text(line, "verdict")),
                source = page_source(p, head.source);
    penta_bytes number = json_member_text(line, "size"), format = json_member_text(line, "format");
    penta_bytes findings = json_member_text(line, "findings"), code,
                document = json_member_text(line, "document");
    if (number.data) number_parse_bytes(number, &size);
    p->lines++;
    p->bytes += size;
    size_t bucket = 0;
    while (size >> (bucket + 1) && bucket + 1 < PAGE_SIZES) bucket++;
    p->sizes[bucket] += number.data != NULL;
    tally_add(&p->verdicts, verdict, 1, size, source);
    tally_add(&p->formats, format.size > 4 ? page_unquoted(format) : bytes_of("none"), 1, size,
              source);
    for (size_t at = 0; json_list_next(findings, &at, &code);)
        tally_add(&p->findings, page_unquoted(code), 1, 0, source);
    page_instructions(p, json_member_text(json_member_text(document, "info"), "uses"), source);
    penta_bytes grid = json_member_text(line, "grid"),
                accuracy = json_member_text(document, "accuracy");
    if (grid.data && accuracy.data) page_point_add(p, source, page_unquoted(grid), accuracy);
    if (!bytes_equal(verdict, bytes_of("yes"))) page_failure(p, source, verdict, findings);
}

static void page_slow_add(struct page *p, uint64_t n, uint64_t micros)
{
    size_t at = p->slow_count;
    if (at == PAGE_SLOWEST && micros <= p->slowest[at - 1].micros) return;
    if (at < PAGE_SLOWEST)
        p->slow_count++;
    else
        at--;
    for (; at && p->slowest[at - 1].micros < micros; at--) p->slowest[at] = p->slowest[at - 1];
    p->slowest[at] = (struct page_slow){n, micros, NULL};
}

static bool page_times(struct page *p, penta_error *err)
{
    struct batch_lines file;
    penta_bytes line;
    size_t at = 0;
    char *path = job_path(p->results, ".times", err);
    bool ok = path && batch_lines_open(path, &file, err);
    free(path);
    if (!ok) return false;
    while (batch_lines_next(&file, &at, &line)) {
        const uint8_t *tab = memchr(line.data, '\t', line.size);
        uint64_t n, micros;
        if (tab && number_parse_bytes(bytes_slice(line, 0, (size_t)(tab - line.data)), &n) &&
            number_parse_bytes(bytes_slice(line, (size_t)(tab - line.data) + 1, SIZE_MAX), &micros))
            page_slow_add(p, n, micros);
    }
    batch_lines_close(&file);
    return true;
}

/* Reads all lines, and then the slowest ones again for their names. */
static bool page_read(struct page *p, penta_error *err)
{
    struct batch_lines file;
    struct record_head head;
    penta_bytes line;
    if (!page_times(p, err) || !batch_lines_open(p->results, &file, err)) return false;
    for (size_t at = 0; batch_lines_next(&file, &at, &line);) page_line(p, line);
    for (size_t at = 0; p->slow_count && batch_lines_next(&file, &at, &line);) {
        if (!record_head_read(line, &head)) continue;
        for (size_t i = 0; i < p->slow_count; i++) {
            if (p->slowest[i].n != head.n || p->slowest[i].source) continue;
            penta_bytes source = page_source(p, head.source);
            if (asprintf(&p->slowest[i].source, "%.*s", BYTES_ARG(source, 4096)) < 0)
                p->slowest[i].source = NULL;
        }
    }
    batch_lines_close(&file);
    return true;
}

static const char page_style[] =
    "<style>body{font:15px/1.45 system-ui,sans-serif;margin:2em auto;max-width:70em;padding:0 "
    "1em;color:#222;background:#fff}"
    "h1{font-size:1.4em}h2{font-size:1.1em;margin-top:2em}table{border-collapse:collapse}"
    "td,th{padding:.15em .8em .15em "
    "0;text-align:left;vertical-align:top;overflow-wrap:anywhere}td.n,th.n{text-align:right;white-"
    "space:nowrap}"
    ".b{display:inline-block;height:.8em;background:#4a7db8}a{color:#1f5fa8}"
    "@media(prefers-color-scheme:dark){body{background:#181a1b;color:#ddd}a{color:#8ab8e8}}</"
    "style>\n";

static void page_bar(struct writer *out, double share)
{
    writer_print(out, "<span class=b style=\"width:%.2fem\"></span>", share * 20);
}

static void page_tally(struct writer *out, struct tally *t, const char *title, const char *what,
                       bool bytes)
{
    size_t count = tally_sort(t);
    if (!count) return;
    writer_print(out, "<h2>%s</h2>\n<table><tr><th>%s<th class=n>count%s<th><th>first\n", title,
                 what, bytes ? "<th class=n>bytes" : "");
    for (size_t i = 0; i < count && i < PAGE_ROWS; i++) {
        const struct tally_row *row = &t->rows[i];
        writer_text(out, "<tr><td>");
        page_text(out, bytes_of(row->name));
        writer_print(out, "<td class=n>%" PRIu64, row->count);
        if (bytes) writer_print(out, "<td class=n>%" PRIu64, row->bytes);
        writer_text(out, "<td>");
        page_bar(out, (double)row->count / (double)t->rows[0].count);
        writer_text(out, "<td>");
        page_link(out, bytes_of(row->source));
        writer_char(out, '\n');
    }
    writer_text(out, "</table>\n");
    if (count > PAGE_ROWS) writer_print(out, "<p>and %zu more\n", count - PAGE_ROWS);
}

static void page_sizes(struct writer *out, const struct page *p)
{
    uint64_t most = 1;
    size_t first = PAGE_SIZES, last = 0;
    for (size_t i = 0; i < PAGE_SIZES; i++) {
        if (!p->sizes[i]) continue;
        if (first > i) first = i;
        last = i;
        if (p->sizes[i] > most) most = p->sizes[i];
    }
    if (first == PAGE_SIZES) return;
    writer_text(out, "<h2>Sizes</h2>\n<table><tr><th class=n>bytes, from<th class=n>files<th>\n");
    for (size_t i = first; i <= last; i++) {
        writer_print(out, "<tr><td class=n>%" PRIu64 "<td class=n>%" PRIu64 "<td>",
                     i ? UINT64_C(1) << i : 0, p->sizes[i]);
        page_bar(out, (double)p->sizes[i] / (double)most);
        writer_char(out, '\n');
    }
    writer_text(out, "</table>\n");
}

static void page_slow(struct writer *out, const struct page *p)
{
    if (!p->slow_count) return;
    writer_text(out, "<h2>Slowest</h2>\n<table><tr><th class=n>seconds<th>\n");
    for (size_t i = 0; i < p->slow_count; i++) {
        if (!p->slowest[i].source) continue;
        writer_print(out, "<tr><td class=n>%.6f<td>", (double)p->slowest[i].micros / 1e6);
        page_link(out, bytes_of(p->slowest[i].source));
        writer_char(out, '\n');
    }
    writer_text(out, "</table>\n");
}

static void page_sweep(struct writer *out, const struct page *p)
{
    size_t best = 0;
    if (!p->point_count) return;
    for (size_t i = 1; i < p->point_count; i++)
        if (p->points[i].accuracy > p->points[best].accuracy) best = i;
    writer_text(out, "<h2>Sweep</h2>\n<p>Best: <b>");
    page_text(out, bytes_of(p->points[best].name));
    writer_print(out,
                 "</b>, accuracy %.4f\n<svg viewBox=\"0 0 %zu 120\" width=\"100%%\" role=img "
                 "aria-label=\"accuracy of each combination\">\n",
                 p->points[best].accuracy, p->point_count * 12 + 8);
    for (size_t i = 0; i < p->point_count; i++) {
        double share = p->points[i].accuracy < 0   ? 0
                       : p->points[i].accuracy > 1 ? 1
                                                   : p->points[i].accuracy;
        writer_print(out,
                     "<rect x=\"%zu\" y=\"%.1f\" width=\"9\" height=\"%.1f\" fill=\"%s\"><title>",
                     i * 12 + 4, 110 - 100 * share, 100 * share, i == best ? "#c0632b" : "#4a7db8");
        page_text(out, bytes_of(p->points[i].name));
        writer_print(out, ": %.4f</title></rect>\n", p->points[i].accuracy);
    }
    writer_text(out, "</svg>\n<table><tr><th>combination<th class=n>accuracy\n");
    for (size_t i = 0; i < p->point_count; i++) {
        writer_text(out, "<tr><td>");
        page_text(out, bytes_of(p->points[i].name));
        writer_print(out, "<td class=n>%.4f\n", p->points[i].accuracy);
    }
    writer_text(out, "</table>\n");
}

static void page_write(struct writer *out, struct page *p, penta_bytes verb)
{
    writer_text(out, "<!DOCTYPE html>\n<html lang=en><meta charset=utf-8><meta name=viewport "
                     "content=\"width=device-width\">\n<title>penta batch ");
    page_text(out, verb);
    writer_text(out, "</title>\n");
    writer_text(out, page_style);
    writer_text(out, "<h1>penta batch ");
    page_text(out, verb);
    writer_text(out, ": ");
    page_text(out, bytes_of(p->results));
    writer_print(out, "</h1>\n<p>%" PRIu64 " sources, %" PRIu64 " bytes\n", p->lines, p->bytes);
    page_tally(out, &p->verdicts, "Verdicts", "verdict", true);
    page_sweep(out, p);
    page_tally(out, &p->formats, "Formats", "format", true);
    page_sizes(out, p);
    page_slow(out, p);
    page_tally(out, &p->findings, "Commonest diagnostics", "code", false);
    page_tally(out, &p->instructions, "Instructions", "instruction", false);
    if (p->failed) {
        writer_text(out, "<h2>Not yes</h2>\n<table><tr><th>verdict<th>source<th>findings\n");
        writer_append(out, &p->failures);
        writer_text(out, "</table>\n");
    }
    if (p->failed > PAGE_FAILURES)
        writer_print(out, "<p>and %zu more\n", p->failed - PAGE_FAILURES);
    writer_text(out, "</html>\n");
}

bool penta_batch_report(const char *results, penta_buffer *html, penta_error *err)
{
    struct page p = {.results = results};
    penta_buffer text = {0};
    struct writer out = {0};
    *err = (penta_error){0};
    bool ok = job_read(results, &text, err) && page_read(&p, err);
    if (ok && !p.lines) ok = error_at(err, BASE_STATE, 0, "'%.60s' has no lines", results);
    if (ok)
        page_write(&out, &p,
                   page_unquoted(json_member_text((penta_bytes){text.data, text.size}, "verb")));
    if (ok && (p.verdicts.failed || p.formats.failed || p.findings.failed ||
               p.instructions.failed || p.source.failed))
        ok = error_at(err, BASE_MEMORY, 0, "no memory for a page");
    tally_free(&p.verdicts);
    tally_free(&p.formats);
    tally_free(&p.findings);
    tally_free(&p.instructions);
    writer_free(&p.failures);
    writer_free(&p.source);
    for (size_t i = 0; i < p.slow_count; i++) free(p.slowest[i].source);
    for (size_t i = 0; i < p.point_count; i++) free(p.points[i].name);
    free(p.points);
    penta_buffer_free(&text);
    return writer_give(&out, ok, html, err);
}
