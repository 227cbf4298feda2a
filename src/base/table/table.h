/* Tables of whole numbers from the files that people keep their data in: CSV, NPY (NumPy) and IDX
 * (digit collections), told apart by their first bytes (TVMR 21.2). Numbers of other types are
 * multiplied by a scale and rounded. */
#pragma once
#include "base/error.h"
#include "base/writer.h"

enum { TABLE_RANK = 32 };

struct penta_table {
    int32_t *numbers;     /* row by row */
    size_t rows, columns; /* the first dimension, and the product of the others */
    uint64_t dims[TABLE_RANK];
    size_t rank; /* 1: a list, with one column */
};

/* Numbers times scale, halves rounded away from zero; what does not fit 32 bits is an error with its
 * offset. */
bool table_read(penta_bytes file, double scale, struct penta_table *out, penta_error *err);
/* Errors name the file. */
bool table_read_file(const char *path, double scale, struct penta_table *out, penta_error *err);
void table_free(struct penta_table *table);

/* Numbers of these dimensions: NPY of 16-bit numbers, CSV with a line for each row. */
void npy_write(struct writer *out, const int16_t *numbers, const uint64_t *dims, size_t rank);
void csv_write(struct writer *out, const int16_t *numbers, size_t rows, size_t columns);

/* ---- for the readers ---- */

bool csv_read(penta_bytes file, double scale, struct penta_table *t, penta_error *err);
bool npy_is(penta_bytes file);
bool npy_read(penta_bytes file, double scale, struct penta_table *t, penta_error *err);
bool idx_is(penta_bytes file);
bool idx_read(penta_bytes file, double scale, struct penta_table *t, penta_error *err);

/* What an element of a binary file is. */
enum table_kind { TABLE_UNSIGNED, TABLE_SIGNED, TABLE_FLOAT };
struct table_type {
    enum table_kind kind;
    unsigned bytes; /* 1, 2, 4, 8; of a float 4 or 8 */
    bool big_endian;
};
/* t->dims and t->rank are set: reads exactly that many elements from file to its end. */
bool table_elements(penta_bytes file, size_t from, struct table_type type, double scale,
                    struct penta_table *t, penta_error *err);
bool table_number(double value, double scale, uint64_t offset, int32_t *out, penta_error *err);
