/* Compresses with libdeflate. Builds without it have deflate_plain.c instead. */
#include "base/codec/deflate.h"
#include <libdeflate.h>
#include <stdlib.h>

bool deflate_deflate(penta_bytes in, penta_buffer *out)
{
    enum { DENSEST = 12 };
    *out = (penta_buffer){0};
    struct libdeflate_compressor *c = libdeflate_alloc_compressor(DENSEST);
    if (!c) return false;
    size_t bound = libdeflate_deflate_compress_bound(c, in.size);
    uint8_t *buffer = malloc(bound ? bound : 1);
    size_t size = buffer ? libdeflate_deflate_compress(c, in.data, in.size, buffer, bound) : 0;
    libdeflate_free_compressor(c);
    if (!size) {
        free(buffer);
        return false;
    }
    *out = (penta_buffer){buffer, size, bound};
    return true;
}
