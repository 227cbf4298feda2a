/* Raw DEFLATE (RFC 1951) is a compressed stream without header and trailer. libdeflate does the
 * work. */
#pragma once
#include "base/writer.h"

enum deflate_result {
    DEFLATE_OK,
    DEFLATE_BAD,      /* The bytes are no stream, or the stream is cut short. */
    DEFLATE_TRAILING, /* Bytes follow the final block. */
    DEFLATE_LIMIT,    /* The result has more than `limit` bytes. */
    DEFLATE_MEMORY,
};
/* Decompresses into out, which the caller frees. The result never has more than `limit` bytes,
 * and decompressing never takes much more memory than that. */
enum deflate_result deflate_inflate(penta_bytes in, size_t limit, penta_buffer *out);
/* Compresses at the densest level. Returns false when memory ran out or this build cannot
 * compress. */
bool deflate_deflate(penta_bytes in, penta_buffer *out);
