/* The rules of an instruction in its function (COIL 11): operand classes, types, variables,
 * scopes. The verifier and the loader of the machine use the same code, so that they agree about
 * what is valid. */
#pragma once
#include "coil/coil.h"
#include "coil/format/scopes.h"

struct coil_variable {
    uint64_t id;
    const struct coil_type *type; /* closed: no ids inside */
    uint8_t ext;
    uint32_t depth, serial; /* serial: counts the declarations of the function */
};
struct coil_value { /* a definition of the preprocessor */
    uint64_t id;    /* or string offset */
    bool text, live, has_value;
    uint8_t op;
    uint64_t bits;
};

struct coil_check {
    const struct coil_module *m; /* NULL: a single instruction, in no module */
    struct findings *findings;   /* NULL: only counted */
    uint64_t origin;             /* file offset of the section */
    size_t errors;               /* of the last instruction */
    uint32_t first;              /* code of its first error */
    struct coil_type_ids ids;
    struct arena arena;              /* of the function's types */
    struct coil_variable *variables; /* open ones, found through scopes */
    size_t variable_count, variable_capacity;
    struct coil_scopes scopes, value_index;
    uint32_t depth, serials;
    struct coil_value *values;
    size_t value_count, value_capacity;
    bool conditions[64], taken[64];
    unsigned nesting;
    bool last_condition;
    struct coil_header target; /* the header, with what PPTARG added to it */
    uint64_t target_at;        /* of the PPTARG that did; 0: none */
    bool removed;              /* the instruction belongs to the preprocessor or was cut out */
    bool after_call;           /* flags are what a callee left */
    bool no_memory;
};

void coil_check_init(struct coil_check *c, const struct coil_module *m, struct findings *f);
void coil_check_fini(struct coil_check *c);
void coil_check_function(struct coil_check *c); /* a function starts */
void coil_check_function_end(struct coil_check *c, uint64_t at);
void coil_check_section_end(struct coil_check *c, uint64_t at);
/* True when the instruction is valid here; keeps track of scopes and types either way. */
bool coil_check_insn(struct coil_check *c, const struct coil_insn *insn);
/* After all code: whether the machine executes programs for the target. */
bool coil_check_runs(const struct coil_check *c, penta_error *err);
/* The innermost declaration, or NULL. */
const struct coil_variable *coil_check_variable(const struct coil_check *c, uint64_t id);
/* The value of a DEFINITION operand in the operand's type. */
bool coil_check_definition(const struct coil_check *c, const struct coil_operand *o,
                           uint64_t *bits);
/* The type of an operand's value with aliases followed and the lanes of a vector variable; NULL:
 * none or not known (a register, a bare reference). qualifiers: with those of the declaration. */
const struct coil_type *coil_check_type(struct coil_check *c, const struct coil_operand *o,
                                        uint8_t *qualifiers);
const char *coil_check_form(const struct coil_insn *insn); /* the letters that fit, or NULL */
