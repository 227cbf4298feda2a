/* Makes and applies deltas. Bytes at the same offset are compared. Bytes are not searched for at
 * another place, because snapshots of one machine seldom move their bytes. */
#include "core/delta.h"
#include "base/bytes.h"

enum { GAP = 32 }; /* A change ends at 32 equal bytes, because another record costs 24 bytes. */

static void delta_change(struct writer *out, size_t offset, size_t removed, penta_bytes added)
{
    writer_uint(out, offset, 8);
    writer_uint(out, removed, 8);
    writer_uint(out, added.size, 8);
    writer_bytes(out, added.data, added.size);
}

static void same_size(penta_bytes old, penta_bytes new, struct writer *out)
{
    for (size_t i = 0; i < new.size; i++) {
        if (old.data[i] == new.data[i]) continue;
        size_t end = i + 1; /* offset after the last byte that differs */
        for (size_t j = end; j < new.size &&j < end + GAP; j++)
            if (old.data[j] != new.data[j]) end = j + 1;
        delta_change(out, i, end - i, bytes_slice(new, i, end - i));
        i = end;
    }
}

void delta_write(penta_bytes old, penta_bytes new, struct writer *out)
{
    if (old.size == new.size) {
        same_size(old, new, out);
        return;
    }
    size_t least = old.size < new.size ? old.size : new.size, head = 0, tail = 0;
    while (head < least && old.data[head] == new.data[head]) head++;
    while (tail < least - head && old.data[old.size - 1 - tail] == new.data[new.size - 1 - tail])
        tail++;
    delta_change(out, head, old.size - head - tail, bytes_slice(new, head, new.size - head - tail));
}

bool delta_apply(penta_bytes old, penta_bytes delta, struct writer *out)
{
    size_t at = 0;
    while (delta.size) {
        if (delta.size < 24) return false;
        uint64_t offset = bytes_get64(delta.data), removed = bytes_get64(delta.data + 8),
                 added = bytes_get64(delta.data + 16);
        if (offset < at || offset > old.size || removed > old.size - offset ||
            added > delta.size - 24)
            return false;
        writer_bytes(out, old.data + at, (size_t)offset - at);
        writer_bytes(out, delta.data + 24, (size_t)added);
        at = (size_t)(offset + removed);
        delta = bytes_slice(delta, 24 + (size_t)added, SIZE_MAX);
    }
    writer_bytes(out, old.data + at, old.size - at);
    return true;
}
