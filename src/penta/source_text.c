/* Writes source lines into a listing. Files are read as the line table names them, and only regular ones up to 16 MB,
 * because the names come from the program. */
#include "penta/source_text.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/file/file.h"
#include "base/sanitize.h"
#include "core/driver.h"

enum { SOURCE_MAX = 16 << 20 };

static void source_add(void *user, const penta_line *line)
{
    struct source_text *s = user;
    if (line->to > line->from && ARRAY_GROW(s->lines, s->capacity, s->count, s->err))
        s->lines[s->count++] = *line;
}

static int source_order(const void *a, const void *b)
{
    const penta_line *x = a, *y = b;
    return (x->from > y->from) - (x->from < y->from);
}

bool source_text_open(struct source_text *s, const penta_module *module, penta_error *err)
{
    *s = (struct source_text){.err = err};
    penta_lines(module, source_add, s);
    if (!s->count)
        return error_at(err, BASE_UNSUPPORTED, 0, "this %s program has no source lines",
                        module->driver->name);
    qsort(s->lines, s->count, sizeof *s->lines, source_order);
    return !err->code;
}

/* The text of a line, without its end, or empty when the file cannot be read. */
static penta_bytes source_line(struct source_text *s, const penta_line *line)
{
    penta_error ignored = {0};
    if (!s->name || !bytes_equal(bytes_of(s->name), line->file)) {
        penta_buffer_free(&s->text);
        free(s->name);
        s->name = strndup((const char *)line->file.data, line->file.size);
        if (s->name && !file_read_regular(s->name, SOURCE_MAX, &s->text, &ignored))
            penta_buffer_free(&s->text);
    }
    penta_bytes text = {s->text.data, s->text.size};
    for (uint64_t number = 1, at = 0; at < text.size; number++) {
        const uint8_t *end = memchr(text.data + at, '\n', text.size - (size_t)at);
        size_t size = end ? (size_t)(end - text.data) - (size_t)at : text.size - (size_t)at;
        if (number == line->line) return bytes_slice(text, (size_t)at, size);
        at += size + 1;
    }
    return (penta_bytes){NULL, 0};
}

void source_text_row(struct source_text *s, uint64_t pc, const char *comment, struct writer *out)
{
    size_t i;
    ARRAY_SEARCH(i, 0, s->count, s->lines[i].from > pc);
    const penta_line *line = i && s->lines[i - 1].to > pc ? &s->lines[i - 1] : NULL;
    const penta_line *last = s->shown;
    bool same = last && line && last->line == line->line && bytes_equal(last->file, line->file);
    s->shown = line;
    if (!line || same) return;
    writer_print(out, "%s ", comment);
    writer_safe(out, line->file);
    writer_print(out, ":%" PRIu64, line->line);
    penta_bytes text = source_line(s, line);
    if (text.size) writer_text(out, ":  ");
    writer_safe(out, text);
    writer_char(out, '\n');
}

void source_text_close(struct source_text *s)
{
    free(s->lines);
    free(s->name);
    penta_buffer_free(&s->text);
}
