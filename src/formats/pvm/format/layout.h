/* Computes where the areas of a program are in guest memory (PVM 7.1). */
#pragma once
#include "pvm/pvm.h"

struct pvm_layout { /* A struct pvm_layout has the addresses of the areas. */
    uint32_t ro, rw, stack, stack_top, aux;
    /* The lengths of the areas are those of whole pages. */
    uint64_t ro_length, rw_length, stack_length, aux_length;
    uint64_t heap_base, heap_max;
};

/* Places the areas. `aux_size` is the size of the auxiliary data, or of the arguments of a
 * standard program; `page` is the size of a page. Returns false when the areas do not fit. */
bool pvm_layout(const struct pvm_program *program, uint64_t aux_size, uint32_t page,
                struct pvm_layout *out, penta_error *err);
