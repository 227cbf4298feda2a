/* Escapes text for XML and HTML. */
#include "penta/analysis/markup.h"
#include <string.h>
#include "base/bytes.h"
#include "base/sanitize.h"

static void markup_escape(struct writer *w, penta_bytes text)
{
    for (size_t i = 0; i < text.size; i++) {
        switch (text.data[i]) {
        case '<': writer_text(w, "&lt;"); break;
        case '>': writer_text(w, "&gt;"); break;
        case '&': writer_text(w, "&amp;"); break;
        case '"': writer_text(w, "&quot;"); break;
        case '\'': writer_text(w, "&#39;"); break;
        default: writer_char(w, (char)text.data[i]);
        }
    }
}

void markup_bytes(struct writer *w, penta_bytes text)
{
    struct writer safe = {0};
    writer_safe(&safe, text);
    markup_escape(w, writer_view(&safe));
    w->failed |= safe.failed;
    writer_free(&safe);
}

void markup_text(struct writer *w, const char *text) { markup_bytes(w, bytes_of(text)); }

void markup_cut(struct writer *w, const char *text, size_t most)
{
    size_t characters = 0, at = 0;
    if (most < 3) return;
    for (const char *c = text; *c; c++) characters += (*c & 0xc0) != 0x80;
    if (characters <= most) {
        markup_text(w, text);
        return;
    }
    for (size_t seen = 0; text[at]; at++)
        if ((text[at] & 0xc0) != 0x80 && ++seen > most - 2) break;
    markup_bytes(w, bytes_slice(bytes_of(text), 0, at));
    writer_text(w, "..");
}
