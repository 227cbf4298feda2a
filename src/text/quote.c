/* Writes bytes as a string token with escapes. */
#include "text/quote.h"

void writer_quoted(struct writer *w, penta_bytes text)
{
    writer_char(w, '"');
    for (size_t i = 0; i < text.size; i++) {
        uint8_t c = text.data[i];
        if (c == '"' || c == '\\')
            writer_print(w, "\\%c", c);
        else if (c < 0x20 || c >= 0x7f)
            writer_print(w, "\\x%02x", c);
        else
            writer_char(w, (char)c);
    }
    writer_char(w, '"');
}
