/* Reads and writes base64 (RFC 4648, the alphabet with + and /). */
#include "base/codec/base64.h"
#include <string.h>
#include "base/bytes.h"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_write(struct writer *out, penta_bytes in)
{
    for (size_t at = 0; at < in.size; at += 3) {
        penta_bytes part = bytes_slice(in, at, 3);
        uint32_t word = 0;
        for (size_t i = 0; i < 3; i++) word = word << 8 | (i < part.size ? part.data[i] : 0);
        for (size_t i = 0; i < 4; i++)
            writer_char(out, i <= part.size ? digits[word >> (18 - 6 * i) & 63] : '=');
    }
}

bool base64_read(const char *text, struct writer *out)
{
    uint32_t word = 0, bits = 0;
    size_t size = strlen(text);
    while (size && text[size - 1] == '=') size--;
    for (size_t i = 0; i < size; i++) {
        const char *digit = strchr(digits, text[i]);
        if (!digit) return false;
        word = word << 6 | (uint32_t)(digit - digits);
        bits += 6;
        if (bits < 8) continue;
        bits -= 8;
        writer_char(out, (char)(uint8_t)(word >> bits));
    }
    return true;
}
