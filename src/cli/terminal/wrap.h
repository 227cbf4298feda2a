/* Declares how text fits a terminal: help, notes and tables are wrapped at its width. Text for a
 * file or a pipe is never wrapped, and neither are data, which have one line for each thing. */
#pragma once
#include "cli/cli.h"

/* These functions return the columns of the terminal on standard output or standard error, or 80
 * when the terminal does not tell. They return 0 when the output is not a terminal, or the text
 * goes elsewhere and must not be wrapped. terminal.c defines them. */
size_t wrap_width(const struct cli *c);
size_t wrap_width_of_errors(const struct cli *c);
size_t wrap_columns(penta_bytes text);       /* Returns how many columns a line of text takes. */
bool wrap_fits(size_t column, size_t width); /* Tells whether text has room from this column on. */
/* Writes the words of a text whose first line begins in this column. Further lines begin after
 * `indent` spaces, fewer on a narrow terminal. Returns the column at the end, and writes no
 * newline there. With a width of 0 nothing is wrapped. */
size_t wrap_words(struct writer *out, penta_bytes text, size_t column, size_t indent, size_t width);
/* Writes paragraphs that newlines separate, with a newline at the end. */
void wrap_paragraphs(struct writer *out, penta_bytes text, size_t indent, size_t width);

/* A table. Cells are collected row by row, then printed in columns as wide as their widest cell.
 * Cells of the last column are wrapped below each other. An empty table is all zeros. */
enum { WRAP_COLUMNS = 16 };
struct wrap_table {
    struct writer text;      /* the texts of all cells, one after the other */
    struct wrap_cell *cells; /* the cells, in rows of WRAP_COLUMNS */
    size_t count, capacity;  /* number of cells, a multiple of WRAP_COLUMNS except for the open
                              * row */
    size_t widths[WRAP_COLUMNS], used; /* the widths of the columns, and how many columns any row
                                        * uses */
    bool failed;
};
/* Sets a cell of the open row. Empty cells need no call. */
void wrap_cell(struct wrap_table *t, size_t column, penta_bytes text);
void wrap_row_end(struct wrap_table *t);
/* Prints the table and frees it. Each row begins after `indent` spaces; columns are two spaces
 * apart. */
void wrap_table_print(struct wrap_table *t, struct writer *out, size_t indent, size_t width);
