/* Prints and reads single instructions (PVM 11.3) by the texts of forms.def. */
#pragma once
#include "base/writer.h"
#include "pvm/format/decode.h"
#include "text/lexer.h"

struct pvm_style {
    bool upstream; /* The text is exactly what PolkaVM's disassembler prints. */
    /* Prints the target of a jump. When the function is NULL, targets are decimal numbers. */
    void (*target)(void *user, struct writer *out, uint32_t pc);
    void *user;
};

void pvm_form_print(struct writer *out, const struct pvm_insn *in, enum pvm_isa isa,
                    const struct pvm_style *style);

/* Prints "name operand, operand ...", as pvm_line_mnemonic reads it. */
void pvm_mnemonic_print(struct writer *out, const struct pvm_insn *in, enum pvm_isa isa);

/* A struct pvm_operand is an operand of a line; operands are in the order of the text. */
struct pvm_operand {
    enum { PVM_OPERAND_REGISTER, PVM_OPERAND_NUMBER, PVM_OPERAND_LABEL } kind;
    uint64_t value;    /* the number of a register, or a number */
    penta_bytes label; /* the label with its @ */
    uint64_t offset;   /* the offset of the operand in the source */
};

/* A struct pvm_line is a line that is split into its operands and the tokens between them. These
 * tokens are the key by which the form is found. */
struct pvm_line {
    char key[96];
    struct pvm_operand operands[8];
    unsigned count;
    uint64_t offset, end; /* where the line starts and ends in the source */
};

/* A struct pvm_match is the instruction that the operands of a line mean. */
struct pvm_match {
    struct pvm_insn in;
    /* `target` is the target of a jump, a label or a number, or NULL for other instructions. */
    const struct pvm_operand *target;
    /* `address` is the label whose dynamic address is the first immediate, or NULL. */
    const struct pvm_operand *address;
};

/* Reads a line to its end, or to "%size". */
bool pvm_line_read(struct source *s, struct pvm_line *out);
/* Finds the form of the line. Returns false when no form of this ISA fits; err says why. */
bool pvm_line_match(const struct pvm_line *line, enum pvm_isa isa, struct pvm_match *out,
                    penta_error *err);
/* Reads "name operand, operand ...", with the names of isa.def or of the Gray Paper. Returns
 * false without an error when the line does not start with such a name. */
bool pvm_line_mnemonic(struct source *s, enum pvm_isa isa, struct pvm_line *line,
                       struct pvm_match *out);
