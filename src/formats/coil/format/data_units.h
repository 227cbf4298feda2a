/* Tells which bytes of data sections form a number together (COIL 8.12). This is known from
 * relocations, from the types with which code reads and writes at symbols, and from the section
 * .coil.type. */
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
    uint8_t *marks; /* per byte of the file: one of the constants above */
    /* This many bytes may still be marked. The number is limited, because hostile code may name
     * the same data many times. */
    uint64_t budget;
    penta_error err;
};

/* Finds the numbers in data. If `all` is true, it looks at code and .coil.type too, otherwise
 * only at relocations. Returns false, with the error in units->err, if there is no memory or too
 * much work. coil_data_units_free must be called in both cases. */
bool coil_data_units_find(const struct coil_module *m, struct coil_data_units *units, bool all);
void coil_data_units_free(struct coil_data_units *units);
/* Reports data about which nothing, or something contradictory, is known. Returns true if there
 * are no such data. */
bool coil_data_units_check(const struct coil_data_units *units, struct findings *f);
/* Reverses the bytes of every number in the data of a copy of the file. */
void coil_data_units_swap(const struct coil_data_units *units, uint8_t *image);
/* A row of .coil.type has this size: {u32 section number, u32 offset, u32 type, u32 count}. */
enum { COIL_TYPE_ROW = 16 };
