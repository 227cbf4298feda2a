/* Repairs the numbers of a file that measure other bytes of it. A number keeps its difference from the right value, so
 * that a file with a wrong length keeps a length that is wrong by as much. */
#include "base/array.h"
#include "base/bytes.h"
#include "base/codec/varint.h"
#include "core/driver.h"
#include "core/edit/edit.h"

enum {
    ROUNDS_MAX = 12
}; /* a longer number moves what follows it, which may make another number longer */

bool edit_encode(struct writer *out, penta_encoding encoding, uint64_t size, uint64_t value,
                 bool negative)
{
    uint8_t bytes[VARINT_BYTES];
    if (encoding == PENTA_LEB128 || encoding == PENTA_PREFIX) {
        if (negative || value > UINT32_MAX) return false;
        unsigned n = encoding == PENTA_LEB128 ? varint_leb_write(bytes, (uint32_t)value)
                                              : varint_prefix_write(bytes, (uint32_t)value);
        writer_bytes(out, bytes, n);
        return true;
    }
    if (encoding == PENTA_ARRAY || encoding == PENTA_PACKED || !size || size > 8) return false;
    uint64_t bits = 8 * size, lost = size == 8 ? 0 : value >> bits;
    uint64_t sign = value >> (bits - 1) & 1;
    if (negative ? (size < 8 && lost != UINT64_MAX >> bits) || !sign : lost != 0) return false;
    for (uint64_t i = 0; i < size; i++)
        bytes[encoding == PENTA_BIG ? size - 1 - i : i] = (uint8_t)(value >> 8 * i);
    writer_bytes(out, bytes, (size_t)size);
    return true;
}

static uint64_t number_stored(const struct edit *e, struct edit_number n)
{
    penta_bytes in = bytes_slice(e->file, (size_t)n.at, n.size);
    uint32_t value = 0;
    if (n.encoding == PENTA_LEB128)
        varint_leb_read(in, &value);
    else if (n.encoding == PENTA_PREFIX)
        varint_prefix_read(in, &value);
    else
        return bytes_uint(in.data, in.size, n.encoding == PENTA_BIG);
    return value;
}

/* The splice of this range in the last round, or NULL. */
static struct edit_splice *repair_last(const struct edit *e, uint64_t at, uint64_t size)
{
    size_t i;
    ARRAY_SEARCH(i, 0, e->sorted, e->splices[i].at >= at);
    for (; i < e->sorted && e->splices[i].at == at; i++)
        if (e->splices[i].size == size) return &e->splices[i];
    return NULL;
}

/* Puts bytes that repair something, in the place of those of the last round. */
static void repair_put(struct edit *e, struct edit_splice *last, uint64_t at, uint64_t size,
                       penta_bytes bytes)
{
    if (last && bytes_equal(last->bytes, bytes)) return;
    e->changed = true;
    if (!last) {
        edit_put(e, at, size, bytes, false);
        return;
    }
    uint8_t *copy = arena_alloc(&e->arena, bytes.size + 1, 1, e->err);
    if (!copy) return;
    bytes_copy(copy, bytes);
    last->bytes = (penta_bytes){copy, bytes.size};
}

static void number_set(struct edit *e, struct edit_number n, uint64_t was, uint64_t now)
{
    uint8_t room[VARINT_BYTES];
    if (e->err->code || !n.size || n.at > e->file.size || n.size > e->file.size - n.at) return;
    struct edit_splice *s = repair_last(e, n.at, n.size);
    if ((now == was && !s) || (s && s->asked)) return;
    struct writer w = writer_into(room, sizeof room);
    uint64_t value = number_stored(e, n) + (now - was);
    if (!edit_encode(&w, n.encoding, n.size, value, false)) {
        error_at(e->err, BASE_FIELD_VALUE, n.at, "the length at 0x%llx cannot become %llu",
                 (unsigned long long)n.at, (unsigned long long)value);
        return;
    }
    repair_put(e, s, n.at, n.size, writer_view(&w));
}

void edit_length(struct edit *e, struct edit_number n, uint64_t from, uint64_t size, uint64_t unit)
{
    uint64_t now = size ? edit_offset(e, from + size) - edit_start(e, from) : 0;
    if (now != size && (now - size) % unit)
        error_at(e->err, BASE_FIELD_VALUE, from, "%llu bytes instead of %llu are no whole items",
                 (unsigned long long)now, (unsigned long long)size);
    else
        number_set(e, n, size / unit, now / unit);
}

void edit_place(struct edit *e, struct edit_number n, uint64_t target, uint64_t base)
{
    number_set(e, n, target - base, edit_start(e, target) - edit_start(e, base));
}

void edit_align(struct edit *e, uint64_t end, uint64_t start, uint64_t unit)
{
    static const uint8_t zeros[64];
    if (unit < 2 || unit > sizeof zeros || start < end || start - end >= unit || start % unit)
        return;
    size_t need = (size_t)(-edit_offset(e, end) & (unit - 1));
    struct edit_splice *s = repair_last(e, end, start - end);
    if ((!s && need == start - end) || (s && s->asked)) return;
    repair_put(e, s, end, start - end, (penta_bytes){zeros, need});
}

bool edit_repair(struct edit *e)
{
    const struct driver_edit *how = e->module->driver->edit;
    const penta_error *damage = &e->module->damage;
    if (how && how->prepare && !damage->code) how->prepare(e);
    for (unsigned round = 0; !e->err->code && edit_sort(e); round++) {
        if (!e->moves || !how || !how->measures) return true;
        if (damage->code)
            return error_at(e->err, BASE_DAMAGED, damage->offset,
                            "sizes cannot change in a file that is damaged: %.60s",
                            damage->message);
        if (round == ROUNDS_MAX)
            return error_at(e->err, BASE_FIELD_VALUE, 0, "the lengths of the file find no end");
        e->changed = false;
        how->measures(e);
        if (!e->changed && !e->err->code) return true;
    }
    return false;
}
