/* Reads CSV: each line is a row of numbers between commas, semicolons or tabs, in quotes or not.
 * Lines that start with # are comments. A first line with a cell that is no number is a heading. */
#include "base/array.h"
#include "base/bytes.h"
#include "base/table/table.h"
#include <stdlib.h>

enum { CELL_MAX = 64 };

struct csv {
    penta_bytes file;
    size_t at;
    double scale;
    struct penta_table *t;
    size_t count, capacity; /* `numbers` has `count` items and room for `capacity`. */
    penta_error *err;
};

static bool ends_cell(uint8_t c) { return c == ',' || c == ';' || c == '\t' || c == '\n'; }

/* Takes the cell at c->at, without blanks and quotes, and moves c->at to its end. */
static penta_bytes csv_cell(struct csv *c)
{
    size_t from = c->at;
    while (c->at < c->file.size && !ends_cell(c->file.data[c->at])) c->at++;
    size_t to = c->at;
    while (from < to && strchr(" \r\"", c->file.data[from]) && c->file.data[from]) from++;
    while (from < to && strchr(" \r\"", c->file.data[to - 1]) && c->file.data[to - 1]) to--;
    return bytes_slice(c->file, from, to - from);
}

static bool csv_number(penta_bytes text, double *out)
{
    char copy[CELL_MAX], *end;
    if (!text.size || text.size >= sizeof copy || memchr(text.data, 0, text.size)) return false;
    bytes_copy(copy, text);
    copy[text.size] = 0;
    *out = strtod(copy, &end);
    return !*end;
}

static bool csv_add(struct csv *c, penta_bytes text, double value)
{
    uint64_t at = (uint64_t)(text.data - c->file.data);
    if (!ARRAY_RESERVE(c->t->numbers, c->capacity, c->count + 1))
        return error_at(c->err, BASE_MEMORY, 0, "no memory for a table");
    return table_number(value, c->scale, at, &c->t->numbers[c->count++], c->err);
}

/* Reads one line. *heading says on entry whether the line may be a heading, and afterwards
 * whether it was one. */
static bool csv_line(struct csv *c, bool *heading)
{
    size_t start = c->at, before = c->count, cells = 0;
    bool more = true, may = *heading;
    *heading = false;
    while (more) {
        penta_bytes text = csv_cell(c);
        double value = 0;
        uint64_t at = (uint64_t)(text.data - c->file.data);
        more = c->at < c->file.size && c->file.data[c->at] != '\n';
        c->at += c->at < c->file.size;
        cells++;
        if (csv_number(text, &value)) {
            if (!csv_add(c, text, value)) return false;
        } else if (may) {
            *heading = true;
        } else {
            return error_at(c->err, BASE_NUMBER, at, "'%.*s' is no number", BYTES_ARG(text, 40));
        }
    }
    if (*heading) {
        c->count = before;
        return true;
    }
    if (!c->t->rows) c->t->columns = cells;
    if (cells != c->t->columns)
        return error_at(c->err, BASE_RANGE, start, "%zu numbers in a line, %zu in those before",
                        cells, c->t->columns);
    c->t->rows++;
    return true;
}

static bool csv_skipped(struct csv *c)
{
    size_t end = c->at;
    while (end < c->file.size && c->file.data[end] != '\n') end++;
    size_t i = c->at;
    while (i < end && (c->file.data[i] == ' ' || c->file.data[i] == '\r')) i++;
    if (i < end && c->file.data[i] != '#') return false;
    c->at = end + (end < c->file.size);
    return true;
}

bool csv_read(penta_bytes file, double scale, struct penta_table *t, penta_error *err)
{
    struct csv c = {.file = file, .scale = scale, .t = t, .err = err};
    bool heading = true;
    while (c.at < file.size) {
        if (csv_skipped(&c)) continue;
        if (!csv_line(&c, &heading)) return false;
        heading = false; /* Only the first line may be a heading. */
    }
    if (!t->rows) return error_at(err, BASE_RANGE, 0, "no numbers in the file");
    t->dims[0] = t->rows;
    t->dims[1] = t->columns;
    t->rank = t->columns == 1 ? 1 : 2;
    return true;
}

void csv_write(struct writer *out, const int16_t *numbers, size_t rows, size_t columns)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t k = 0; k < columns; k++)
            writer_print(out, "%d%c", numbers[i * columns + k], k + 1 < columns ? ',' : '\n');
}
