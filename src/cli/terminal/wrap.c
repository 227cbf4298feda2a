/* Wraps text at the width of a terminal and prints tables. The text must be safe to print;
 * terminal.c filters what is not. */
#include "cli/terminal/wrap.h"
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/bytes.h"
#include "base/utf8.h"

enum { COLUMN_GAP = 2 };

bool wrap_fits(size_t column, size_t width)
{
    enum { LEAST = 20 };
    return !width || column + LEAST <= width;
}

size_t wrap_columns(penta_bytes text)
{
    size_t columns = 0;
    for (size_t at = 0; at < text.size; columns++) {
        uint32_t point;
        size_t n = utf8_next(bytes_slice(text, at, text.size - at), &point);
        at += n ? n : 1;
    }
    return columns;
}

/* Returns the indent of further lines. On a narrow terminal it is smaller, so that the text has
 * room. */
static size_t wrap_indent(size_t indent, size_t width)
{
    return wrap_fits(indent, width) ? indent : width / 8;
}

size_t wrap_words(struct writer *out, penta_bytes text, size_t column, size_t indent, size_t width)
{
    indent = wrap_indent(indent, width);
    for (size_t at = 0; at < text.size;) {
        /* n counts the blanks before the word, unless it begins a line, and the word. */
        size_t blanks = 0, n = 0;
        while (at + blanks < text.size && text.data[at + blanks] == ' ') blanks++;
        while (at + blanks + n < text.size && text.data[at + blanks + n] != ' ') n++;
        penta_bytes piece = bytes_slice(text, at, blanks + n);
        size_t columns = wrap_columns(piece);
        if (width && column + columns > width && column > indent) {
            writer_char(out, '\n');
            writer_fill(out, ' ', indent);
            column = indent;
            piece = bytes_slice(piece, blanks, n);
            columns -= blanks;
        }
        writer_bytes(out, piece.data, piece.size);
        column += columns;
        at += blanks + n;
    }
    return column;
}

void wrap_paragraphs(struct writer *out, penta_bytes text, size_t indent, size_t width)
{
    for (size_t at = 0; at < text.size; at++) {
        size_t n = 0;
        while (at + n < text.size && text.data[at + n] != '\n') n++;
        if (n) writer_fill(out, ' ', wrap_indent(indent, width));
        wrap_words(out, bytes_slice(text, at, n), wrap_indent(indent, width), indent, width);
        writer_char(out, '\n');
        at += n;
    }
}

struct wrap_cell {
    size_t at, size; /* the range of the cell in the text of the table */
};

static size_t table_row(const struct wrap_table *t)
{
    return t->count / WRAP_COLUMNS * WRAP_COLUMNS;
}

/* Opens a row of empty cells. Returns false when memory ran out. */
static bool table_open_row(struct wrap_table *t)
{
    if (t->count % WRAP_COLUMNS) return true;
    if (!ARRAY_RESERVE(t->cells, t->capacity, t->count + WRAP_COLUMNS)) {
        t->failed = true;
        return false;
    }
    memset(t->cells + t->count, 0, WRAP_COLUMNS * sizeof *t->cells);
    t->count++;
    return true;
}

void wrap_cell(struct wrap_table *t, size_t column, penta_bytes text)
{
    if (column >= WRAP_COLUMNS || !text.size || !table_open_row(t)) return;
    size_t columns = wrap_columns(text);
    t->cells[table_row(t) + column] = (struct wrap_cell){t->text.out.size, text.size};
    writer_bytes(&t->text, text.data, text.size);
    if (columns > t->widths[column]) t->widths[column] = columns;
    if (column >= t->used) t->used = column + 1;
}

void wrap_row_end(struct wrap_table *t)
{
    if (table_open_row(t)) t->count = table_row(t) + WRAP_COLUMNS;
}

static void table_print_row(const struct wrap_table *t, const struct wrap_cell *cells,
                            struct writer *out, size_t indent, size_t width)
{
    size_t start = indent, column = 0; /* the column of the cell, and the column at the end of
                                        * the line */
    for (size_t i = 0; i < t->used; start += t->widths[i++] + COLUMN_GAP) {
        penta_bytes text = bytes_slice(writer_view(&t->text), cells[i].at, cells[i].size);
        bool is_last = i + 1 == t->used;
        size_t place = start;
        if (!text.size) continue;
        bool fits = is_last ? wrap_fits(place, width) : !width || place + t->widths[i] <= width;
        if (!fits && column) {
            writer_char(out, '\n'); /* The columns are wider than the terminal. */
            column = 0;
            place = indent + 2 * COLUMN_GAP;
        } else if (column > place) { /* An earlier cell began a line. */
            place = column + COLUMN_GAP;
        }
        writer_fill(out, ' ', place - column);
        column = wrap_words(out, text, place, place, is_last ? width : 0);
    }
    writer_char(out, '\n');
}

void wrap_table_print(struct wrap_table *t, struct writer *out, size_t indent, size_t width)
{
    if (t->failed || t->text.failed) {
        out->failed = true;
    } else {
        for (size_t i = 0; i + WRAP_COLUMNS <= t->count; i += WRAP_COLUMNS)
            table_print_row(t, t->cells + i, out, indent, width);
    }
    free(t->cells);
    writer_free(&t->text);
    *t = (struct wrap_table){0};
}
