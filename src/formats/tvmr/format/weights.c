/* Reads and writes the entries of weight files, and lists their keys for messages. */
#include "tvmr/format/weights.h"
#include "base/codec/checksum.h"
#include <stdio.h>

bool tvmr_entry_read(struct reader *r, struct tvmr_entry *e)
{
    uint64_t count = 1;
    bool none = false;
    *e = (struct tvmr_entry){.offset = reader_at(r)};
    e->key = reader_bytes(r, (size_t)reader_uint(r, 1));
    e->dims = reader_bytes(r, 2 * (size_t)reader_uint(r, 1));
    for (size_t i = 0; i < e->dims.size; i += 2) none |= !bytes_get16(e->dims.data + i);
    for (size_t i = 0; i < e->dims.size && !none; i += 2) {
        count *= bytes_get16(e->dims.data + i);
        if (count > reader_left(r))
            return error_at(r->err, BASE_RANGE, reader_at(r), "more weights than bytes");
    }
    if (none) count = 0;
    e->has_temps = (uint8_t)reader_uint(r, 1);
    e->weights = reader_bytes(r, 2 * (size_t)count);
    if (e->has_temps) e->temps = reader_bytes(r, (size_t)count);
    e->size = reader_at(r) - e->offset;
    return !r->err->code;
}

bool tvmr_weights_sum_good(penta_bytes file)
{
    penta_bytes body = bytes_slice(file, 0, file.size - TVMW_SUM);
    return checksum_xxh64(body) == bytes_get64(file.data + body.size);
}

void tvmr_weights_begin(struct writer *out, size_t count)
{
    writer_bytes(out, "TVMW", 4);
    writer_uint(out, TVMW_VERSION, 2);
    writer_uint(out, count, 2);
}

void tvmr_entry_write(struct writer *out, const struct tvmr_entry *e)
{
    writer_uint(out, e->key.size, 1);
    writer_bytes(out, e->key.data, e->key.size);
    writer_uint(out, e->dims.size / 2, 1);
    writer_bytes(out, e->dims.data, e->dims.size);
    writer_uint(out, e->has_temps, 1);
    writer_bytes(out, e->weights.data, e->weights.size);
    writer_bytes(out, e->temps.data, e->temps.size);
}

void tvmr_weights_end(struct writer *out)
{
    if (!out->failed) writer_uint(out, checksum_xxh64(writer_view(out)), 8);
}

void tvmr_key_list_add(char *list, size_t size, penta_bytes key)
{
    size_t used = strlen(list), dots = sizeof ", ..";
    int length = (int)(key.size < 30 ? key.size : 30);
    const char *listed = length ? memmem(list, used, key.data, (size_t)length) : NULL;
    if (listed && (listed == list || listed[-1] == ' ') &&
        (!listed[length] || listed[length] == ','))
        return;
    if (used > 1 && !strcmp(list + used - 2, "..")) return;
    if (used + 2 + (size_t)length + dots > size)
        snprintf(list + used, size - used, "%s..", used ? ", " : "");
    else
        snprintf(list + used, size - used, "%s%.*s", used ? ", " : "", length,
                 (const char *)key.data);
}

const uint8_t tvmr_conductance[4] = {255, 200, 100, 30}, tvmr_threshold[4] = {0, 15, 60, 120};

struct tvmr_signal tvmr_signal_of(int32_t v)
{
    if (v > 0) return (struct tvmr_signal){1, (uint8_t)(v > 255 ? 255 : v)};
    if (v == INT32_MIN) return (struct tvmr_signal){-1, 0}; /* The negation of this value wraps. */
    if (v < 0) return (struct tvmr_signal){-1, (uint8_t)(-v > 255 ? 255 : -v)};
    return (struct tvmr_signal){0, 0};
}
