/* Decompresses with libdeflate, under a limit for the result. Builds without it have
 * inflate_plain.c instead. */
#include "base/codec/deflate.h"
#include <libdeflate.h>
#include <stdlib.h>

/* A stream does not store the decoded size, so the buffer starts at a likely size and grows.
 * Small streams stay cheap, and a stream that expands without end stops at the limit. */
enum deflate_result deflate_inflate(penta_bytes in, size_t limit, penta_buffer *out)
{
    *out = (penta_buffer){0};
    struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
    if (!d) return DEFLATE_MEMORY;
    enum deflate_result result = DEFLATE_LIMIT;
    size_t capacity = in.size < limit / 4 ? in.size * 4 + 256 : limit;
    for (;;) {
        if (capacity > limit) capacity = limit;
        uint8_t *buffer = malloc(capacity + 1);
        size_t used = 0, made = 0;
        if (!buffer) {
            result = DEFLATE_MEMORY;
            break;
        }
        enum libdeflate_result r =
            libdeflate_deflate_decompress_ex(d, in.data, in.size, buffer, capacity, &used, &made);
        if (r == LIBDEFLATE_SUCCESS) {
            result = used == in.size ? DEFLATE_OK : DEFLATE_TRAILING;
            *out = (penta_buffer){buffer, made, capacity + 1};
            break;
        }
        free(buffer);
        if (r != LIBDEFLATE_INSUFFICIENT_SPACE) result = DEFLATE_BAD;
        if (r != LIBDEFLATE_INSUFFICIENT_SPACE || capacity == limit) break;
        capacity = capacity > limit / 4 ? limit : capacity * 4;
    }
    libdeflate_free_decompressor(d);
    if (result != DEFLATE_OK) penta_buffer_free(out);
    return result;
}
