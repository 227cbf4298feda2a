/* Raw DEFLATE (RFC 1951): no header, no trailer. libdeflate does the work. */
#pragma once
#include "base/writer.h"

enum deflate_result {
    DEFLATE_OK,
    DEFLATE_BAD,      /* not a stream, or cut short */
    DEFLATE_TRAILING, /* bytes follow the final block */
    DEFLATE_LIMIT,    /* more than limit bytes come out */
    DEFLATE_MEMORY,
};
/* out gets the bytes (free it); never more than limit, nor much more memory than that. */
enum deflate_result deflate_inflate(penta_bytes in, size_t limit, penta_buffer *out);
/* At the densest level. False: memory ran out, or this build cannot. */
bool deflate_deflate(penta_bytes in, penta_buffer *out);
