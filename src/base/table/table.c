/* Tells the kind of a table file by its first bytes and reads binary elements; csv.c, npy.c and
 * idx.c read the rest. */
#include "base/table/table.h"
#include "base/bytes.h"
#include "base/file/file.h"
#include <math.h>
#include <stdlib.h>

#define FILE_MAX (UINT64_C(1) << 32)

bool table_number(double value, double scale, uint64_t offset, int32_t *out, penta_error *err)
{
    double v = round(value * scale);
    if (!(v >= INT32_MIN && v <= INT32_MAX))
        return error_at(err, BASE_NUMBER, offset, "%g does not fit 32 bits", value * scale);
    *out = (int32_t)v;
    return true;
}

static double table_element(const uint8_t *p, struct table_type type)
{
    uint64_t bits = bytes_uint(p, type.bytes, type.big_endian);
    unsigned unused = 64 - 8 * type.bytes;
    if (type.kind == TABLE_UNSIGNED) return (double)bits;
    if (type.kind == TABLE_SIGNED) return (double)((int64_t)(bits << unused) >> unused);
    if (type.bytes == 8) {
        double d;
        memcpy(&d, &bits, sizeof d);
        return d;
    }
    uint32_t half = (uint32_t)bits;
    float f;
    memcpy(&f, &half, sizeof f);
    return (double)f;
}

bool table_elements(penta_bytes file, size_t from, struct table_type type, double scale,
                    struct penta_table *t, penta_error *err)
{
    uint64_t count = 1, left = (file.size - from) / type.bytes;
    for (size_t i = 0; i < t->rank; i++) {
        if (t->dims[i] && count > left / t->dims[i])
            return error_at(err, BASE_TRUNCATED, file.size, "the file ends before its numbers");
        count *= t->dims[i];
    }
    if (count > left)
        return error_at(err, BASE_TRUNCATED, file.size, "the file ends before its numbers");
    if (count * type.bytes != file.size - from)
        return error_at(err, BASE_RANGE, from + count * type.bytes, "%llu bytes after the numbers",
                        (unsigned long long)(file.size - from - count * type.bytes));
    t->rows = t->rank ? (size_t)t->dims[0] : 1;
    t->columns = t->rows ? (size_t)count / t->rows : 0;
    t->numbers = malloc((count ? (size_t)count : 1) * sizeof *t->numbers);
    if (!t->numbers) return error_at(err, BASE_MEMORY, 0, "no memory for a table");
    for (size_t i = 0; i < count; i++) {
        size_t at = from + i * type.bytes;
        if (!table_number(table_element(file.data + at, type), scale, at, &t->numbers[i], err))
            return false;
    }
    return true;
}

bool table_read(penta_bytes file, double scale, struct penta_table *out, penta_error *err)
{
    *out = (struct penta_table){0};
    bool ok = npy_is(file)   ? npy_read(file, scale, out, err)
              : idx_is(file) ? idx_read(file, scale, out, err)
                             : csv_read(file, scale, out, err);
    if (!ok) table_free(out);
    return ok;
}

bool table_read_file(const char *path, double scale, struct penta_table *out, penta_error *err)
{
    penta_buffer file = {0};
    penta_error why = {0};
    if (!file_read(path, FILE_MAX, &file, err)) return false;
    bool ok = table_read((penta_bytes){file.data, file.size}, scale, out, &why);
    penta_buffer_free(&file);
    const char *slash = strrchr(path, '/');
    return ok || error_at(err, why.code, 0, "%.40s, byte %llu: %.60s", slash ? slash + 1 : path,
                          (unsigned long long)why.offset, why.message);
}

void table_free(struct penta_table *table)
{
    free(table->numbers);
    *table = (struct penta_table){0};
}
