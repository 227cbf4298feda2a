/* Reads the head of a blob inside another file: it tells where the code ends, and after the code
 * there may be a trailer. */
#include "core/nested.h"
#include "kblob/kblob.h"

static bool kblob_head(penta_bytes rest, struct nested_head *head)
{
    static const char *const versions[] = {"version 1", "version 2"};
    struct kblob_header h;
    penta_error err = {0};
    struct reader r = {.in = rest, .err = &err};
    kblob_header_read(&r, &h);
    if (err.code || h.version < 1 || h.version > 2 || h.entryOffset < kblob_header_bytes ||
        h.entryOffset % kblob_inst_bytes)
        return false;
    uint64_t end = h.entryOffset + (uint64_t)h.instCount * kblob_inst_bytes;
    *head = (struct nested_head){.size = end, .dialect = versions[h.version - 1]};
    if (end > rest.size || rest.size - end < kblob_trailer_bytes) return true;
    const uint8_t *trailer = rest.data + end;
    uint64_t size = kblob_trailer_bytes + (uint64_t)bytes_get32(trailer + 8);
    if (bytes_get32(trailer) == KBLOB_TRAILER && size <= rest.size - end) head->size += size;
    return true;
}

const struct driver_nested kblob_nested = {{KBLOB_MAGIC}, kblob_head};
