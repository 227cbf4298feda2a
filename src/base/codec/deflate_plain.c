/* Replaces deflate.c in builds without libdeflate's compressor, which refuse to compress. */
#include "base/codec/deflate.h"
#include "base/platform/missing.h"

bool deflate_deflate(penta_bytes in, penta_buffer *out)
{
    (void)in;
    *out = (penta_buffer){0};
    return missing_refuse("machines");
}
