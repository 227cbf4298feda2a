/* Prints and reads single instructions (PVM 11.3) by the texts of forms.def. */
#pragma once
#include "base/writer.h"
#include "pvm/format/decode.h"
#include "text/lexer.h"

/* ---- printing ---- */

struct pvm_style {
    bool upstream; /* prints exactly what PolkaVM's disassembler prints */
    /* Prints a target. NULL: targets are decimal numbers. */
    void (*target)(void *user, struct writer *out, uint32_t pc);
    void *user;
};

void pvm_form_print(struct writer *out, const struct pvm_insn *in, enum pvm_isa isa,
                    const struct pvm_style *style);

/* ---- reading ---- */

struct pvm_operand { /* an operand of a line; they are in the order of the text */
    enum { PVM_OPERAND_REGISTER, PVM_OPERAND_NUMBER, PVM_OPERAND_LABEL } kind;
    uint64_t value;    /* the number of a register, or a number */
    penta_bytes label; /* the label with its @ */
    uint64_t offset;   /* an offset in the source */
};

/* A line that is split into its operands and the tokens between them. These tokens are the key
 * by which the form is found. */
struct pvm_line {
    char key[96];
    struct pvm_operand operands[8];
    unsigned count;
    uint64_t offset, end; /* offsets in the source */
};

/* The meaning of a line's operands for one instruction. */
struct pvm_match {
    struct pvm_insn in;
    const struct pvm_operand *target; /* of a jump: a label or a number; else NULL */
    /* A label whose dynamic address is the first immediate, or NULL. */
    const struct pvm_operand *address;
};

/* Reads to the end of the line, or to "%size". */
bool pvm_line_read(struct source *s, struct pvm_line *out);
/* Finds the form of the line. Returns false when no form of this ISA fits; err says why. */
bool pvm_line_match(const struct pvm_line *line, enum pvm_isa isa, struct pvm_match *out,
                    penta_error *err);
/* Reads "name operand, operand ...", with the names of isa.def or of the Gray Paper. Returns
 * false without an error when the line does not start with such a name. */
bool pvm_line_mnemonic(struct source *s, enum pvm_isa isa, struct pvm_line *line,
                       struct pvm_match *out);
