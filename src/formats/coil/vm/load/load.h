/* The files of the loader share this state. load.c resolves operands, load_symbols.c finds the
 * addresses of sections, symbols and functions, and load_cells.c chooses cells. */
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
    penta_bytes names;             /* contents of the section .coil.var */
    size_t capacity;               /* number of cells for which there is memory */
    struct coil_step **cell_steps; /* per cell: its step, or NULL */
    uint64_t *targets;             /* per cell: the target address of a direct branch, or 0 */
    /* The fields below are about the function that is being loaded. */
    uint32_t function;
    struct variable_place *variables;
    size_t variable_capacity;
    /* For each open variable of the checker this is its index among the variables that a
     * debugger shows. */
    size_t *open;
    size_t open_count, open_capacity;
    uint64_t frame;
    uint32_t slots, declared;
    /* These are the variables whose addresses are taken, each as function << 32 | serial, in
     * ascending order. */
    uint64_t *taken;
    size_t taken_count, taken_capacity;
};

/* load_symbols.c has these functions, which are called in this order. */
bool coil_load_symbols(struct coil_loading *l);
bool coil_load_functions(struct coil_loading *l);
bool coil_load_entry(struct coil_loading *l);
/* Replaces cell i by a specialised one, if one exists for its instruction. */
void coil_load_cell(const struct coil_loading *l, size_t i);
