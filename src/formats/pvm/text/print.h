/* Declares what the files of the disassembler share. */
#pragma once
#include "pvm/format/debug_info.h"
#include "pvm/text/forms.h"
#include "pvm/vm/gas.h"
#include "pvm/pvm.h"

struct pvm_print {
    const struct pvm_module *m;
    struct writer *out;
    bool gas, source; /* gas: costs of blocks are printed; source: source lines are printed */
    enum pvm_gas_model model;
    bool cmov_reads_old;
};

/* These functions print listings as PolkaVM's disassembler does (print_listing.c). */
bool pvm_print_flat(const struct pvm_print *p, penta_error *err);
bool pvm_print_upstream(const struct pvm_print *p, penta_error *err);
/* Prints text that assembles to the same bytes (print_source.c). */
bool pvm_print_source(const struct pvm_print *p, penta_error *err);
/* Marks, by a bit for each pc, the jumps that the assembler would make shorter when it is not
 * told their size. Returns false when memory ran out (jump_sizes.c). */
bool pvm_jump_sizes(const struct pvm_code *code, uint8_t *sized);

/* Prints a name as 'name', or as 0x.. when it is not UTF-8. */
void pvm_print_name(struct writer *out, penta_bytes name);

/* A struct pvm_print_lines follows the debug sections while a listing is printed. */
struct pvm_print_lines {
    const struct pvm_program *program;
    struct pvm_debug_lines lines;
    bool running;
    uint64_t said; /* a hash of the source place that was printed last */
};
/* Prints "// function at path:line:column" when the instruction at pc comes from another source
 * place than the instruction before. It must be called for every instruction, in order. */
void pvm_print_place(struct pvm_print_lines *l, uint32_t pc, struct writer *out);
