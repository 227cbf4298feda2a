/* Shows the source lines around the stop, if the program has line numbers and the file exists. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/file/file.h"
#include "base/sanitize.h"
#include "cli/debug/shell.h"

enum { SOURCE_MAX = 16 << 20, AROUND = 2 };

/* Returns the text of a file, which is kept from the last time, or an empty text when it cannot
 * be read. */
static penta_bytes text_of(struct shell *s, penta_bytes file)
{
    penta_error err;
    if (!s->source_name || !bytes_equal(bytes_of(s->source_name), file)) {
        penta_buffer_free(&s->source);
        free(s->source_name);
        s->source_name = strndup((const char *)file.data, file.size);
        if (s->source_name && !file_read_regular(s->source_name, SOURCE_MAX, &s->source, &err))
            penta_buffer_free(&s->source);
    }
    return (penta_bytes){s->source.data, s->source.size};
}

static void print_lines(struct shell *s, penta_bytes text, uint64_t wanted)
{
    struct writer *out = &s->cli->out;
    const struct palette *p = shell_palette(s);
    uint64_t number = 1;
    for (size_t at = 0; at < text.size && number <= wanted + AROUND; number++) {
        const uint8_t *end = memchr(text.data + at, '\n', text.size - at);
        size_t size = end ? (size_t)(end - text.data) - at : text.size - at;
        if (number + AROUND >= wanted) {
            bool here = number == wanted;
            writer_print(out, "%s%s %5" PRIu64 " |%s ", here ? p->warning : p->dim,
                         here ? "=>" : "  ", number, p->off);
            writer_safe(out, bytes_slice(text, at, size));
            writer_char(out, '\n');
        }
        at += size + 1;
    }
}

void show_source(struct shell *s)
{
    struct writer *out = &s->cli->out;
    penta_line line;
    if (!penta_line_at(s->machine.in.module, s->stop.pc, &line)) return;
    penta_bytes text = text_of(s, line.file);
    writer_text(out, "at ");
    writer_safe(out, line.file);
    writer_print(out, ":%" PRIu64 "\n", line.line);
    print_lines(s, text, line.line);
}
