/* Text that fits a terminal: help, notes and tables are wrapped at its width. What goes to a file or a pipe is never
 * wrapped, and data is not either: each has one line for one thing. */
#pragma once
#include "cli/cli.h"

/* The columns of the terminal that standard output is, or standard error; 80 when it does not say. 0: it is no terminal,
 * or the text goes elsewhere, and is not to be wrapped. They are in terminal.c. */
size_t wrap_width(const struct cli *c);
size_t wrap_width_of_errors(const struct cli *c);
size_t wrap_columns(penta_bytes text); /* how many columns a line of text takes */
bool wrap_fits(size_t column,
               size_t width); /* whether there is room for text from this column on */
/* Writes the words of a text whose first line begins in this column. Further lines begin after `indent` spaces, fewer
 * on a narrow terminal. Returns the column at the end; writes no newline there. width 0: nothing is wrapped. */
size_t wrap_words(struct writer *out, penta_bytes text, size_t column, size_t indent, size_t width);
/* The same for paragraphs that newlines separate, with a newline at the end. */
void wrap_paragraphs(struct writer *out, penta_bytes text, size_t indent, size_t width);

/* A table: cells are collected row by row, then printed in columns as wide as their widest cell. Cells of the last
 * column are wrapped below each other. Zeroed, it is empty. */
enum { WRAP_COLUMNS = 16 };
struct wrap_table {
    struct writer text;      /* all cells, one after the other */
    struct wrap_cell *cells; /* rows of WRAP_COLUMNS */
    size_t count, capacity;  /* of cells; a multiple of WRAP_COLUMNS but for the open row */
    size_t widths[WRAP_COLUMNS], used; /* the columns that any row has */
    bool failed;
};
/* Sets a cell of the row that is open; empty cells need no call. */
void wrap_cell(struct wrap_table *t, size_t column, penta_bytes text);
void wrap_row_end(struct wrap_table *t);
/* Each row begins after `indent` spaces; columns are two spaces apart. Frees the table. */
void wrap_table_print(struct wrap_table *t, struct writer *out, size_t indent, size_t width);
