/* Keeps the splices of an edit in order, and finds where bytes are in the new file. */
#include <stdlib.h>
#include "base/array.h"
#include "base/bytes.h"
#include "core/edit/edit.h"

bool edit_put(struct edit *e, uint64_t at, uint64_t size, penta_bytes bytes, bool asked)
{
    uint8_t *copy = arena_alloc(&e->arena, bytes.size + 1, 1, e->err);
    if (!copy || !ARRAY_GROW(e->splices, e->capacity, e->count, e->err)) return false;
    bytes_copy(copy, bytes);
    e->splices[e->count++] =
        (struct edit_splice){.at = at, .size = size, .bytes = {copy, bytes.size}, .asked = asked};
    return true;
}

static int splice_order(const void *a, const void *b)
{
    const struct edit_splice *x = a, *y = b;
    if (x->at != y->at) return x->at < y->at ? -1 : 1;
    if (!x->size != !y->size) return x->size ? 1 : -1; /* bytes are inserted before the others */
    return y->asked - x->asked;
}

/* Leaves out repairs of bytes that another splice replaces. */
static bool splices_separate(struct edit *e)
{
    size_t kept = 0;
    for (size_t i = 0; i < e->count; i++) {
        struct edit_splice s = e->splices[i];
        while (kept) {
            struct edit_splice *last = &e->splices[kept - 1];
            if (last->at + last->size <= s.at && !(last->at == s.at && last->size == s.size)) break;
            if (!s.asked) goto dropped;
            if (last->asked)
                return error_at(e->err, BASE_FIELD_VALUE, s.at,
                                "two values for the bytes at 0x%llx", (unsigned long long)s.at);
            kept--;
        }
        e->splices[kept++] = s;
    dropped:;
    }
    e->count = kept;
    return true;
}

bool edit_sort(struct edit *e)
{
    if (e->count) qsort(e->splices, e->count, sizeof *e->splices, splice_order);
    if (!splices_separate(e)) return false;
    int64_t before = 0;
    e->moves = false;
    for (size_t i = 0; i < e->count; i++) {
        struct edit_splice *s = &e->splices[i];
        s->before = before;
        before += (int64_t)s->bytes.size - (int64_t)s->size;
        e->moves |= s->bytes.size != s->size;
    }
    e->sorted = e->count;
    return true;
}

/* The number of splices that start before this byte. */
static size_t splices_before(const struct edit *e, uint64_t at)
{
    size_t i;
    ARRAY_SEARCH(i, 0, e->sorted, e->splices[i].at >= at);
    return i;
}

uint64_t edit_offset(const struct edit *e, uint64_t at)
{
    size_t i = splices_before(e, at);
    if (!i) return at;
    const struct edit_splice *s = &e->splices[i - 1];
    uint64_t start = s->at + (uint64_t)s->before;
    if (at >= s->at + s->size) return start + s->bytes.size + (at - s->at - s->size);
    return start + (at - s->at < s->bytes.size ? at - s->at : s->bytes.size);
}

uint64_t edit_start(const struct edit *e, uint64_t at)
{
    size_t i = splices_before(e, at);
    bool inserted = i < e->sorted && e->splices[i].at == at && !e->splices[i].size;
    return edit_offset(e, at) + (inserted ? e->splices[i].bytes.size : 0);
}

bool edit_asked(const struct edit *e, uint64_t at, uint64_t size)
{
    for (size_t i = splices_before(e, at + size); i-- > 0;) {
        const struct edit_splice *s = &e->splices[i];
        if (s->at + s->size <= at) return false;
        if (s->asked) return true;
    }
    return false;
}

bool edit_write(const struct edit *e, struct writer *out, penta_error *err)
{
    uint64_t at = 0;
    for (size_t i = 0; i < e->sorted; i++) {
        const struct edit_splice *s = &e->splices[i];
        writer_bytes(out, e->file.data + at, (size_t)(s->at - at));
        writer_bytes(out, s->bytes.data, s->bytes.size);
        at = s->at + s->size;
    }
    writer_bytes(out, e->file.data + at, e->file.size - (size_t)at);
    return writer_ok(out, err);
}

void edit_free(struct edit *e)
{
    free(e->splices);
    arena_free(&e->arena);
}
