/* Answers the calls about text. A file becomes text that assembles, and text becomes bytes, with
 * the lines from which its instructions came. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "web/web.h"

void web_source(struct web_call *c)
{
    const struct web_file *file = web_file_of(c, "file");
    struct web_options o = {0};
    penta_buffer text = {0};
    if (file && web_options_read(c, "options", &o) &&
        penta_print(file->module, o.list, o.count, &text, &c->err))
        writer_bytes(c->bytes, text.data, text.size);
    penta_buffer_free(&text);
    web_options_free(&o);
}

static void write_line(struct json *j, const penta_module *module, uint64_t line, uint64_t pc)
{
    uint64_t offset, size;
    if (!penta_offset_of(module, pc, &offset, &size)) return;
    json_object(j, NULL);
    json_uint(j, "line", line);
    json_uint(j, "offset", offset);
    json_uint(j, "size", size);
    json_uint(j, "pc", pc);
    json_end(j);
}

/* Finds lines by the assembler's own line table, if it can write one. The text is assembled
 * again for that. */
static bool by_table(struct web_call *c, const char *format, const struct web_options *o,
                     const struct web_file *file)
{
    if (!penta_option_find(format, "debug-lines", PENTA_USE_ASSEMBLE)) return false;
    penta_option *options = calloc(o->count + 1, sizeof *options);
    if (!options) return false;
    for (size_t i = 0; i < o->count; i++) options[i] = o->list[i];
    options[o->count] = (penta_option){"debug-lines", "1"};
    penta_module *lines = penta_assemble(c->data, format, options, o->count + 1, NULL, NULL);
    free(options);
    if (!lines) return false;
    size_t count;
    penta_line line;
    const struct web_row *rows = web_rows(file, &count, &c->err);
    for (size_t i = 0; rows && i < count; i++)
        if (!rows[i].label && penta_line_at(lines, rows[i].pc, &line))
            write_line(c->j, file->module, line.line, rows[i].pc);
    penta_close(lines);
    return true;
}

/* Returns the first word of a line after its labels. */
static penta_bytes first_word(penta_bytes line)
{
    size_t at = 0, from;
    for (;;) {
        while (at < line.size && isspace(line.data[at])) at++;
        from = at;
        while (at < line.size && !isspace(line.data[at]) && line.data[at] != ':') at++;
        if (at == line.size || line.data[at] != ':') return bytes_slice(line, from, at - from);
        at++;
    }
}

static bool same_word(penta_bytes a, penta_bytes b)
{
    if (a.size != b.size) return false;
    for (size_t i = 0; i < a.size; i++)
        if (tolower(a.data[i]) != tolower(b.data[i])) return false;
    return a.size > 0;
}

/* Only this many lines are searched for an instruction, because a macro may have made it. */
enum { AHEAD = 200 };

/* Finds lines by order: each instruction belongs to the next line that starts with its first word. */
static void by_order(struct web_call *c, const struct web_file *file)
{
    size_t count, at = 0;
    uint64_t line = 0;
    const struct web_row *rows = web_rows(file, &count, &c->err);
    for (size_t i = 0; rows && i < count && at < c->data.size; i++) {
        penta_buffer text = {0};
        if (rows[i].label || !penta_print_at(file->module, rows[i].pc, &text)) continue;
        penta_bytes word = first_word((penta_bytes){text.data, text.size});
        size_t look = at;
        for (uint64_t number = line; look < c->data.size && number < line + AHEAD;) {
            const uint8_t *end = memchr(c->data.data + look, '\n', c->data.size - look);
            size_t next = end ? (size_t)(end - c->data.data) + 1 : c->data.size;
            number++;
            bool found = same_word(first_word(bytes_slice(c->data, look, next - look)), word);
            look = next;
            if (!found) continue;
            write_line(c->j, file->module, number, rows[i].pc);
            line = number;
            at = next;
            break;
        }
        penta_buffer_free(&text);
    }
}

static void write_made_file(struct web_call *c, const char *format, const struct web_options *o,
                            penta_module *module)
{
    struct web_file file = {.module = module};
    penta_bytes bytes;
    bytes.data = penta_module_bytes(module, &bytes.size);
    writer_bytes(c->bytes, bytes.data, bytes.size);
    json_list(c->j, "map");
    if (!by_table(c, format, o, &file)) by_order(c, &file);
    json_end(c->j);
    web_listing_free(file.listing);
}

void web_assemble(struct web_call *c)
{
    const char *format = web_need_text(c, "format");
    struct web_options o = {0};
    penta_findings *f = penta_findings_new();
    if (!f) error_at(&c->err, BASE_MEMORY, 0, "no memory for the findings");
    if (format && !(penta_format_uses(format) & PENTA_USE_ASSEMBLE))
        error_at(&c->err, BASE_OPTION_VALUE, 0, "'%.40s' has no text form", format);
    if (!c->err.code && web_options_read(c, "options", &o)) {
        penta_module *module =
            penta_assemble(c->data, format, o.list, o.count, penta_findings_add, f);
        json_bool(c->j, "ok", module != NULL);
        json_list(c->j, "findings");
        for (size_t i = 0; i < penta_findings_count(f); i++) {
            json_object(c->j, NULL);
            web_finding(c->j, penta_findings_at(f, i), NULL, NULL, NULL, &c->data);
            json_end(c->j);
        }
        json_end(c->j);
        if (module) write_made_file(c, format, &o, module);
        penta_close(module);
    }
    web_options_free(&o);
    penta_findings_free(f);
}
