/* Replaces what a terminal could act on, or what a reader could not see, in text that comes from
 * files. */
#include "base/sanitize.h"
#include <string.h>
#include "base/bytes.h"
#include "base/utf8.h"

bool is_deceptive(uint32_t c)
{
    return (c >= 0x80 && c < 0xa0) || c == 0xad || (c >= 0x200b && c <= 0x200f) ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff ||
           (c >= 0xe0000 && c <= 0xe0fff);
}

static size_t
sanitize_plain(penta_bytes text) /* Counts the bytes of printable ASCII at the start. */
{
    size_t n = 0;
    while (n < text.size && text.data[n] >= 0x20 && text.data[n] < 0x7f) n++;
    return n;
}

/* Returns the size of the colour sequence "ESC mark [ numbers m" at the start of the text, or 0. */
static size_t colour_sequence(penta_bytes text, const char *mark, size_t mark_size)
{
    size_t n = mark_size + 2;
    if (text.size < n + 1 || text.data[0] != 0x1b || memcmp(text.data + 1, mark, mark_size) ||
        text.data[n - 1] != '[')
        return 0;
    while (n < text.size && ((text.data[n] >= '0' && text.data[n] <= '9') || text.data[n] == ';'))
        n++;
    return n < text.size && text.data[n] == 'm' ? n + 1 : 0;
}

/* Counts the bytes at the start that are written as they are. */
static size_t sanitize_passes(penta_bytes text, bool lines)
{
    size_t n = sanitize_plain(text);
    uint32_t point = 0;
    if (n) return n;
    if (lines && (*text.data == '\n' || *text.data == '\t')) return 1;
    n = utf8_next(text, &point);
    return point < 0x80 || is_deceptive(point) ? 0 : n;
}

static void sanitize_filter(struct writer *w, penta_bytes text, bool lines, const char *mark)
{
    size_t mark_size = mark ? strlen(mark) : 0;
    while (text.size) {
        size_t n = sanitize_passes(text, lines);
        uint32_t point = 0;
        if (n) {
            writer_bytes(w, text.data, n);
        } else if (mark && (n = colour_sequence(text, mark, mark_size))) {
            writer_char(w, 0x1b);
            writer_bytes(w, text.data + 1 + mark_size, n - 1 - mark_size);
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

void writer_safe(struct writer *w, penta_bytes text) { sanitize_filter(w, text, false, NULL); }

void writer_safe_text(struct writer *w, const char *text) { writer_safe(w, bytes_of(text)); }

void writer_safe_lines(struct writer *w, penta_bytes text, const char *mark)
{
    sanitize_filter(w, text, true, mark);
}

bool is_safe_lines(penta_bytes text)
{
    for (size_t n; text.size; text.data += n, text.size -= n)
        if (!(n = sanitize_passes(text, true))) return false;
    return true;
}
