/* Reads IDX files: 0 u8 | 0 u8 | type u8 | dimensions u8 | a u32 for each | elements;
 * big-endian. */
#include "base/bytes.h"
#include "base/table/table.h"

static const struct {
    uint8_t code;
    struct table_type type;
} types[] = {
    {0x08, {TABLE_UNSIGNED, 1, true}}, {0x09, {TABLE_SIGNED, 1, true}},
    {0x0b, {TABLE_SIGNED, 2, true}},   {0x0c, {TABLE_SIGNED, 4, true}},
    {0x0d, {TABLE_FLOAT, 4, true}},    {0x0e, {TABLE_FLOAT, 8, true}},
};

bool idx_is(penta_bytes file) { return file.size >= 4 && !file.data[0] && !file.data[1]; }

bool idx_read(penta_bytes file, double scale, struct penta_table *t, penta_error *err)
{
    t->rank = file.data[3];
    size_t from = 4 + 4 * t->rank;
    if (!t->rank || t->rank > TABLE_RANK)
        return error_at(err, BASE_RANGE, 3, "%zu dimensions, of 1 to %d", t->rank, TABLE_RANK);
    if (file.size < from)
        return error_at(err, BASE_TRUNCATED, file.size, "the file ends inside its dimensions");
    for (size_t i = 0; i < t->rank; i++) t->dims[i] = bytes_uint(file.data + 4 + 4 * i, 4, true);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].code == file.data[2])
            return table_elements(file, from, types[i].type, scale, t, err);
    return error_at(err, BASE_RANGE, 2, "0x%02x is no type of IDX", file.data[2]);
}
