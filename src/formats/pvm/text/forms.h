/* Prints and reads single instructions (PVM 11.3), as forms.def says. */
#pragma once
#include "base/writer.h"
#include "pvm/format/decode.h"
#include "text/lexer.h"

/* ---- printing ---- */

struct pvm_style {
    bool upstream; /* exactly as PolkaVM's disassembler prints it */
    void (*target)(void *user, struct writer *out, uint32_t pc); /* NULL: decimal */
    void *user;
};

void pvm_form_print(struct writer *out, const struct pvm_insn *in, enum pvm_isa isa,
                    const struct pvm_style *style);

/* ---- reading ---- */

struct pvm_operand { /* of a line, in order of appearance */
    enum { PVM_OPERAND_REGISTER, PVM_OPERAND_NUMBER, PVM_OPERAND_LABEL } kind;
    uint64_t value;    /* register or number */
    penta_bytes label; /* with its @ */
    uint64_t offset;   /* in the source */
};

/* A line split into its operands and the tokens between them, which are the key to find its
 * form. */
struct pvm_line {
    char key[96];
    struct pvm_operand operands[8];
    unsigned count;
    uint64_t offset, end; /* in the source */
};

/* What the operands of a line mean for one instruction. */
struct pvm_match {
    struct pvm_insn in;
    const struct pvm_operand *target;  /* a label or a number, of jumps; else NULL */
    const struct pvm_operand *address; /* a label whose dynamic address is the first immediate */
};

bool pvm_register_parse(penta_bytes name, uint8_t *number); /* "a0", "r7" */

/* Reads up to the end of the line, or up to "%size". */
bool pvm_line_read(struct source *s, struct pvm_line *out);
/* False: no form of this ISA fits; err says why. */
bool pvm_line_match(const struct pvm_line *line, enum pvm_isa isa, struct pvm_match *out,
                    penta_error *err);
/* Reads "name operand, operand ...", by the names of isa.def or of the Gray Paper. False without an
 * error: the line does not start with such a name. */
bool pvm_line_mnemonic(struct source *s, enum pvm_isa isa, struct pvm_line *line,
                       struct pvm_match *out);
