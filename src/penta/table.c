/* Reads tables of numbers for penta/train.h. */
#include "base/table/table.h"
#include "base/file/file.h"
#include "penta/train.h"
#include <stdlib.h>
#include <string.h>

static penta_table *new_table(penta_error *err)
{
    penta_table *t = calloc(1, sizeof *t);
    if (!t) error_at(err, BASE_MEMORY, 0, "no memory for a table");
    return t;
}

penta_table *penta_table_read(const char *path, double scale, penta_error *err)
{
    *err = (penta_error){0};
    penta_table *t = new_table(err);
    if (t && table_read_file(path, scale, t, err)) return t;
    free(t);
    return NULL;
}

penta_table *penta_table_new(const int32_t *numbers, size_t rows, size_t columns, penta_error *err)
{
    *err = (penta_error){0};
    size_t count = rows * columns;
    if (columns && rows > SIZE_MAX / sizeof *numbers / columns) {
        error_at(err, BASE_LIMIT, 0, "a table of %zu by %zu", rows, columns);
        return NULL;
    }
    penta_table *t = new_table(err);
    if (!t) return NULL;
    *t = (penta_table){.numbers = malloc((count ? count : 1) * sizeof *numbers),
                       .rows = rows,
                       .columns = columns,
                       .dims = {rows, columns},
                       .rank = 2};
    if (!t->numbers) {
        error_at(err, BASE_MEMORY, 0, "no memory for a table");
        free(t);
        return NULL;
    }
    if (count) memcpy(t->numbers, numbers, count * sizeof *numbers);
    return t;
}

size_t penta_table_rows(const penta_table *t) { return t->rows; }
size_t penta_table_columns(const penta_table *t) { return t->columns; }
const int32_t *penta_table_row(const penta_table *t, size_t row)
{
    return t->numbers + row * t->columns;
}

void penta_table_free(penta_table *t)
{
    if (t) table_free(t);
    free(t);
}
