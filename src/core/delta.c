#include "core/delta.h"
#include "base/bytes.h"

enum { GAP = 32 }; /* a change ends at so many equal bytes: a second record costs 24 bytes */

static void change(struct writer *out, size_t offset, size_t removed, penta_bytes added)
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
        size_t end = i + 1; /* after the last byte that differs */
        for (size_t j = end; j < new.size &&j < end + GAP; j++)
            if (old.data[j] != new.data[j]) end = j + 1;
        change(out, i, end - i, bytes_slice(new, i, end - i));
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
    change(out, head, old.size - head - tail, bytes_slice(new, head, new.size - head - tail));
}

void delta_apply(penta_bytes old, penta_bytes delta, struct writer *out)
{
    size_t at = 0, i = 0;
    while (i < delta.size) {
        size_t offset = (size_t)get64(delta.data + i), removed = (size_t)get64(delta.data + i + 8),
               added = (size_t)get64(delta.data + i + 16);
        writer_bytes(out, old.data + at, offset - at);
        writer_bytes(out, delta.data + i + 24, added);
        at = offset + removed;
        i += 24 + added;
    }
    writer_bytes(out, old.data + at, old.size - at);
}
