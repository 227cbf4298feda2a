/* Reads and writes the two variable-length forms of numbers (varint.h). */
#include "base/codec/varint.h"

unsigned varint_prefix_read(penta_bytes in, uint32_t *value)
{
    if (!in.size) return 0;
    uint8_t first = in.data[0];
    if (first < 0x80) { /* Nearly all numbers have one byte. */
        *value = first;
        return 1;
    }
    unsigned extra = (unsigned)__builtin_clz(~((uint32_t)first << 24));
    if (extra > 4 || extra >= in.size) return 0;
    /* The four bytes after the first one already fill the value. In PolkaVM the shift then
     * wraps, so that spare bits of the first byte end up in the lowest bits. Programs can
     * contain such numbers. */
    uint32_t top = first & (0x7fu >> extra), shift = extra < 4 ? 8 * extra : 0;
    *value = top << shift | (uint32_t)bytes_uint(in.data + 1, extra, false);
    return 1 + extra;
}

unsigned varint_prefix_write(uint8_t *out, uint32_t value)
{
    unsigned extra = 0;
    while (extra < 4 && value >> (7 + 7 * extra)) extra++;
    uint32_t top = extra < 4 ? value >> 8 * extra : 0;
    out[0] = (uint8_t)((0xff00u >> extra & 0xffu) | top);
    for (unsigned i = 0; i < extra; i++) out[1 + i] = (uint8_t)(value >> 8 * i);
    return 1 + extra;
}

unsigned varint_leb_read(penta_bytes in, uint32_t *value)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < VARINT_BYTES && i < in.size; i++) {
        uint64_t part = in.data[i] & 0x7fu;
        if (i < 5 ? part << 7 * i > UINT32_MAX : part != 0) return 0;
        if (i < 5) v |= part << 7 * i;
        if (in.data[i] & 0x80) continue;
        *value = (uint32_t)v;
        return i + 1;
    }
    return 0;
}

unsigned varint_leb_write(uint8_t *out, uint32_t value)
{
    unsigned n = 0;
    for (; value >= 0x80; value >>= 7) out[n++] = (uint8_t)(value | 0x80);
    out[n++] = (uint8_t)value;
    return n;
}
