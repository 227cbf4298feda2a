/* State that the files of the loader share: load.c resolves operands, load_symbols.c finds addresses of
 * sections, symbols and functions, load_cells.c picks cells. */
#pragma once
#include "coil/vm/vm.h"

struct variable_place {
    uint8_t at;
    uint32_t slot;
};

struct coil_loading {
    struct coil_program *p;
    const struct coil_module *m;
    struct coil_check check;
    struct coil_insn *insn;
    struct coil_load how;
    penta_error *err;
    penta_bytes names;             /* the rows of .coil.var */
    size_t capacity;               /* of the cells */
    struct coil_step **cell_steps; /* per cell, or NULL */
    uint64_t *targets;             /* per cell: address of a direct branch, or 0 */
    /* of the function under way */
    uint32_t function;
    struct variable_place *variables;
    size_t variable_capacity;
    size_t *open; /* of the check's open variables: their places among the visible ones */
    size_t open_count, open_capacity;
    uint64_t frame;
    uint32_t slots, declared;
    /* addresses taken: function << 32 | serial, in order */
    uint64_t *taken;
    size_t taken_count, taken_capacity;
};

/* load_symbols.c, in this order. */
bool coil_load_symbols(struct coil_loading *l);
bool coil_load_functions(struct coil_loading *l);
bool coil_load_entry(struct coil_loading *l);
/* Makes cell i a specialised one, if there is one for it. */
void coil_load_cell(const struct coil_loading *l, size_t i);
