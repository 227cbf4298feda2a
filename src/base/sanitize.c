#include "base/sanitize.h"
#include "base/bytes.h"
#include "base/utf8.h"

bool is_deceptive(uint32_t c)
{
    return (c >= 0x80 && c < 0xa0) || c == 0xad || (c >= 0x200b && c <= 0x200f) ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff ||
           (c >= 0xe0000 && c <= 0xe0fff);
}

static size_t plain(penta_bytes text) /* bytes of printable ASCII at the start */
{
    size_t n = 0;
    while (n < text.size && text.data[n] >= 0x20 && text.data[n] < 0x7f) n++;
    return n;
}

/* Bytes of "ESC [ numbers m" at the start, or 0. */
static size_t colour_sequence(penta_bytes text)
{
    size_t n = 2;
    if (text.size < 3 || text.data[0] != 0x1b || text.data[1] != '[') return 0;
    while (n < text.size && ((text.data[n] >= '0' && text.data[n] <= '9') || text.data[n] == ';'))
        n++;
    return n < text.size && text.data[n] == 'm' ? n + 1 : 0;
}

/* Bytes at the start that pass as they are, or 0. */
static size_t passes(penta_bytes text, bool lines, bool colour)
{
    size_t n = plain(text);
    uint32_t point = 0;
    if (n) return n;
    if (lines && (*text.data == '\n' || *text.data == '\t')) return 1;
    if (lines && colour && (n = colour_sequence(text))) return n;
    n = utf8_next(text, &point);
    return point < 0x80 || is_deceptive(point) ? 0 : n;
}

static void filter(struct writer *w, penta_bytes text, bool lines, bool colour)
{
    while (text.size) {
        size_t n = passes(text, lines, colour);
        uint32_t point = 0;
        if (n) {
            writer_bytes(w, text.data, n);
        } else if ((n = utf8_next(text, &point)) > 1) {
            writer_print(w, "\\u{%x}", (unsigned)point);
        } else {
            n = 1;
            writer_print(w, "\\x%02x", text.data[0]);
        }
        text.data += n;
        text.size -= n;
    }
}

void writer_safe(struct writer *w, penta_bytes text) { filter(w, text, false, false); }

void writer_safe_text(struct writer *w, const char *text) { writer_safe(w, bytes_of(text)); }

void writer_safe_lines(struct writer *w, penta_bytes text, bool colour)
{
    filter(w, text, true, colour);
}

bool is_safe_lines(penta_bytes text, bool colour)
{
    for (size_t n; text.size; text.data += n, text.size -= n)
        if (!(n = passes(text, true, colour))) return false;
    return true;
}
