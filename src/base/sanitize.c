#include "base/sanitize.h"
#include "base/utf8.h"

/* Bidirectional controls, zero-width characters and line separators: invisible, yet they change
 * what a reader believes to see. */
static bool deceptive(uint32_t c)
{
    return (c >= 0x80 && c < 0xa0) || c == 0xad || (c >= 0x200b && c <= 0x200f) ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff ||
           (c >= 0xe0000 && c <= 0xe0fff);
}

void writer_safe(struct writer *w, penta_bytes text)
{
    while (text.size) {
        uint32_t point = 0;
        size_t n = utf8_next(text, &point);
        if (!n || point < 0x20 || point == 0x7f) {
            n = 1;
            writer_print(w, "\\x%02x", text.data[0]);
        } else if (deceptive(point)) {
            writer_print(w, "\\u{%x}", (unsigned)point);
        } else {
            writer_bytes(w, text.data, n);
        }
        text.data += n;
        text.size -= n;
    }
}
