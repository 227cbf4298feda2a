/* What the bytes of data sections are (COIL 8.12): which of them form a number together. Evidence
 * comes from relocations, from the types that code reads and writes at symbols, and from .coil.type. */
#pragma once
#include "coil/coil.h"

enum {
    COIL_UNIT_UNKNOWN,
    COIL_UNIT_FIRST,
    COIL_UNIT_REST,
    COIL_UNIT_MASK = 3,
    COIL_UNIT_CONFLICT = 4
};

struct coil_data_units {
    const struct coil_module *m;
    uint8_t *marks;  /* per byte of the file: of enum above */
    uint64_t budget; /* bytes that may still be marked: hostile code names the same data often */
    penta_error err;
};

/* all: from code and .coil.type too, not only from relocations. False: no memory, or too much work; the
 * error is in units->err. Free either way. */
bool coil_data_units_find(const struct coil_module *m, struct coil_data_units *units, bool all);
void coil_data_units_free(struct coil_data_units *units);
/* Tells what has no or conflicting evidence; true: nothing. */
bool coil_data_units_check(const struct coil_data_units *units, struct findings *f);
/* Reverses every number of the data in a copy of the file. */
void coil_data_units_swap(const struct coil_data_units *units, uint8_t *image);
/* The rows of .coil.type: {u32 section number, u32 offset, u32 type, u32 count}. */
enum { COIL_TYPE_ROW = 16 };
