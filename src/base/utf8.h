/* A strict UTF-8 decoder accepts no overlong forms, no surrogates and nothing above U+10FFFF. */
#pragma once
#include "penta/penta.h"

/* Reads the character at the start of the text, whose size must not be 0. Returns how many bytes
 * it has (1 to 4), and its code point in *point. Returns 0 when the bytes there are not valid
 * UTF-8; the caller then skips one byte. */
static inline size_t utf8_next(penta_bytes text, uint32_t *point)
{
    const uint8_t *p = text.data;
    uint8_t c = p[0];
    if (c < 0x80) {
        *point = c;
        return 1;
    }
    size_t n = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
    if (c < 0xc2 || c > 0xf4 || n > text.size) return 0;
    uint32_t v = c & (0x7fu >> n);
    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80) return 0;
        v = v << 6 | (p[i] & 0x3fu);
    }
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (v < least[n] || v > 0x10ffff || (v >= 0xd800 && v < 0xe000)) return 0;
    *point = v;
    return n;
}

static inline bool utf8_valid(penta_bytes text)
{
    for (size_t at = 0; at < text.size;) {
        uint32_t point;
        size_t n = utf8_next((penta_bytes){text.data + at, text.size - at}, &point);
        if (!n) return false;
        at += n;
    }
    return true;
}
