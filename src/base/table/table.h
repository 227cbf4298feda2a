/* Reads tables of whole numbers from CSV, NPY (NumPy) and IDX files (collections of digits),
 * which are told apart by their first bytes (TVMR 21.2). Numbers of other types are multiplied
 * by a scale and rounded. */
#pragma once
#include "base/error.h"
#include "base/writer.h"

enum { TABLE_RANK = 32 };

struct penta_table {
    int32_t *numbers;     /* The numbers stand row by row. */
    size_t rows, columns; /* rows: the first dimension; columns: the product of the others */
    uint64_t dims[TABLE_RANK];
    /* `rank` says how many dimensions the table has; a table of rank 1 is a list and has one
     * column. */
    size_t rank;
};

/* Reads the numbers, multiplies each by `scale` and rounds it, halves away from zero. A number
 * that does not fit 32 bits then is an error with its offset. */
bool table_read(penta_bytes file, double scale, struct penta_table *out, penta_error *err);
/* Reads a table from a file of this name, as table_read does. Errors say the name. */
bool table_read_file(const char *path, double scale, struct penta_table *out, penta_error *err);
void table_free(struct penta_table *table);

/* npy_write writes numbers of these dimensions as NPY with 16-bit numbers, csv_write as CSV with
 * a line for each row. */
void npy_write(struct writer *out, const int16_t *numbers, const uint64_t *dims, size_t rank);
void csv_write(struct writer *out, const int16_t *numbers, size_t rows, size_t columns);

/* csv.c, npy.c and idx.c share the functions below. */

bool csv_read(penta_bytes file, double scale, struct penta_table *t, penta_error *err);
bool npy_is(penta_bytes file);
bool npy_read(penta_bytes file, double scale, struct penta_table *t, penta_error *err);
bool idx_is(penta_bytes file);
bool idx_read(penta_bytes file, double scale, struct penta_table *t, penta_error *err);

/* A struct table_type is the type of the elements of a binary file. */
enum table_kind { TABLE_UNSIGNED, TABLE_SIGNED, TABLE_FLOAT };
struct table_type {
    enum table_kind kind;
    unsigned bytes; /* 1, 2, 4 or 8 bytes; a float has 4 or 8 */
    bool big_endian;
};
/* Reads as many elements as t->dims and t->rank say; they must reach exactly to the end of the
 * file. */
bool table_elements(penta_bytes file, size_t from, struct table_type type, double scale,
                    struct penta_table *t, penta_error *err);
bool table_number(double value, double scale, uint64_t offset, int32_t *out, penta_error *err);
