/* Writes the page of a report: its fixed parts, which the build embeds, and the data between them. */
#include <string.h>
#include "base/bytes.h"
#include "base/codec/base64.h"
#include "base/sanitize.h"
#include "base/utf8.h"
#include "penta/analysis/markup.h"
#include "penta/report/data.h"

/* The build writes the files of the folder `page` into C (cmake/embed.cmake). */
extern const uint8_t report_html[], report_style[], report_script[];
extern const size_t report_html_size, report_style_size, report_script_size;
extern const uint8_t report_style_sha256[32], report_script_sha256[32];

/* Writes a policy that allows only the page's own style and script. Whatever a file has in it, a browser runs nothing
 * else on the page and asks the network for nothing. */
static void page_policy(struct writer *w)
{
    writer_text(w, "default-src 'none'; style-src 'sha256-");
    base64_write(w, (penta_bytes){report_style_sha256, 32});
    writer_text(w, "'; script-src 'sha256-");
    base64_write(w, (penta_bytes){report_script_sha256, 32});
    writer_text(w, "'; img-src data:; base-uri 'none'; form-action 'none'");
}

/* Writes JSON for a script element. The element would end at the first "</script", so "<" is escaped. Characters that
 * hide or reorder text are escaped, too, for people who read the file itself. */
static void plain_json(struct writer *w, penta_bytes json)
{
    for (size_t n; json.size; json = bytes_slice(json, n, json.size)) {
        uint32_t point = 0;
        n = utf8_next(json, &point);
        if (!n) n = 1; /* These bytes are no UTF-8, which the JSON writer never writes. */
        if (point >= 0x10000 && is_deceptive(point))
            writer_print(w, "\\u%04x\\u%04x", 0xd7c0 + (point >> 10), 0xdc00 + (point & 0x3ff));
        else if (point == '<' || is_deceptive(point))
            writer_print(w, "\\u%04x", point);
        else
            writer_bytes(w, json.data, n);
    }
}

static void page_fill(struct writer *w, penta_bytes mark, const char *title, penta_bytes json)
{
    if (bytes_equal(mark, bytes_of("TITLE")))
        markup_text(w, title);
    else if (bytes_equal(mark, bytes_of("POLICY")))
        page_policy(w);
    else if (bytes_equal(mark, bytes_of("STYLE")))
        writer_bytes(w, report_style, report_style_size);
    else if (bytes_equal(mark, bytes_of("SCRIPT")))
        writer_bytes(w, report_script, report_script_size);
    else if (bytes_equal(mark, bytes_of("DATA")))
        plain_json(w, json);
}

/* Writes page.html and replaces each name that stands between two @. */
static void page_write(struct writer *w, const char *title, penta_bytes json)
{
    penta_bytes rest = {report_html, report_html_size};
    for (bool mark = false; rest.size; mark = !mark) {
        const uint8_t *at = memchr(rest.data, '@', rest.size);
        size_t n = at ? (size_t)(at - rest.data) : rest.size;
        if (mark)
            page_fill(w, bytes_slice(rest, 0, n), title, json);
        else
            writer_bytes(w, rest.data, n);
        rest = bytes_slice(rest, n + 1, rest.size);
    }
}

bool penta_report_html(const penta_report_input *input, penta_buffer *out, penta_error *err)
{
    *err = (penta_error){0};
    struct writer json = {0}, w = {0};
    const char *title = input->title ? input->title : penta_module_format(input->module);
    bool ok = report_data(input, title, &json, err) && writer_ok(&json, err);
    if (ok) page_write(&w, title, writer_view(&json));
    writer_free(&json);
    return writer_give(&w, ok, out, err);
}
