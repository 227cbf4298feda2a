/* Reads numbers, sizes and hex digits from text. A text that is only in part a number is never
 * accepted. */
#include "base/number.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/error.h"

bool number_parse_bytes(penta_bytes text, uint64_t *out)
{
    if (!text.size) return false;
    const uint8_t *p = text.data, *end = text.data + text.size;
    unsigned base = 10;
    if (text.size > 2 && p[0] == '0') {
        int c = tolower(p[1]);
        base = c == 'x' ? 16 : c == 'o' ? 8 : c == 'b' ? 2 : 10;
        if (base != 10) p += 2;
    }
    if (p == end || *p == '_' || end[-1] == '_') return false;
    uint64_t value = 0;
    for (; p < end; p++) {
        if (*p == '_') continue;
        int digit = hex_digit(*p);
        if (digit < 0 || (unsigned)digit >= base) return false;
        if (value > (UINT64_MAX - (unsigned)digit) / base) return false;
        value = value * base + (unsigned)digit;
    }
    *out = value;
    return true;
}

bool number_parse(const char *text, uint64_t *out)
{
    return number_parse_bytes(bytes_of(text), out);
}

bool number_parse_size_bytes(penta_bytes t, uint64_t *out)
{
    unsigned shift = 0;
    if (t.size) {
        int last = toupper(t.data[t.size - 1]);
        shift = last == 'K' ? 10 : last == 'M' ? 20 : last == 'G' ? 30 : 0;
        if (shift) t.size--;
    }
    if (!number_parse_bytes(t, out) || *out > UINT64_MAX >> shift) return false;
    *out <<= shift;
    return true;
}

bool number_parse_size(const char *text, uint64_t *out)
{
    return number_parse_size_bytes(bytes_of(text), out);
}

penta_bytes number_without_0x(penta_bytes text)
{
    bool prefixed = text.size >= 2 && text.data[0] == '0' && (text.data[1] | 32) == 'x';
    return prefixed ? bytes_slice(text, 2, text.size) : text;
}

uint8_t *hex_parse(penta_bytes text, size_t *size, penta_error *err)
{
    uint8_t *out = malloc(text.size / 2 + 1);
    size_t n = 0;
    if (!out && err) error_at(err, BASE_MEMORY, 0, "no memory for %zu bytes", text.size / 2);
    for (size_t i = 0; out && i < text.size;) {
        if (isspace(text.data[i])) {
            i++;
            continue;
        }
        int high = hex_digit(text.data[i]),
            low = i + 1 < text.size ? hex_digit(text.data[i + 1]) : -1;
        if (high < 0 || low < 0) {
            free(out);
            return NULL;
        }
        out[n++] = (uint8_t)(high << 4 | low);
        i += 2;
    }
    *size = n;
    return out;
}
