/* Replaces inflate.c in builds without libdeflate: nothing can be decompressed. */
#include "base/codec/deflate.h"

enum deflate_result deflate_inflate(penta_bytes in, size_t limit, penta_buffer *out)
{
    (void)in, (void)limit;
    *out = (penta_buffer){0};
    return DEFLATE_MEMORY;
}
