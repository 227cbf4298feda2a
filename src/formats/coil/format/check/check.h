/* The rules of an instruction in its function (COIL 11): operand classes, types, variables and
 * scopes. The verifier and the loader of the machine use the same code, so that they agree about
 * what is valid. */
#pragma once
#include "coil/coil.h"
#include "coil/format/scopes.h"

struct coil_variable {
    uint64_t id;
    const struct coil_type *type; /* closed: no type ids inside */
    uint8_t ext;
    uint32_t depth, serial; /* serial: number of the declaration in its function */
};
struct coil_value { /* a definition of the preprocessor */
    uint64_t id;    /* the id of the definition, or a string offset */
    bool text, live, has_value;
    uint8_t op;
    uint64_t bits;
};

struct coil_check {
    const struct coil_module *m; /* NULL: a single instruction without a module */
    struct findings *findings;   /* NULL: errors are only counted */
    uint64_t origin;             /* offset of the section in the file */
    size_t errors;               /* number of errors of the last instruction */
    uint32_t first;              /* code of its first error */
    struct coil_type_ids ids;
    struct arena arena; /* memory for the types of the function */
    /* The variables declared in open scopes, found through `scopes`. */
    struct coil_variable *variables;
    size_t variable_count, variable_capacity;
    struct coil_scopes scopes, value_index;
    uint32_t depth, serials;
    struct coil_value *values;
    size_t value_count, value_capacity;
    bool conditions[64], taken[64];
    unsigned nesting;
    bool last_condition;
    struct coil_header target; /* the target: the header's, completed by PPTARG */
    uint64_t target_at;        /* place of the PPTARG that completed it; 0: none */
    bool removed;              /* the instruction belongs to the preprocessor or was cut out */
    bool after_call;           /* a call left the flags unspecified */
    bool no_memory;
};

void coil_check_init(struct coil_check *c, const struct coil_module *m, struct findings *f);
void coil_check_fini(struct coil_check *c);
void coil_check_function(struct coil_check *c); /* starts a function */
void coil_check_function_end(struct coil_check *c, uint64_t at);
void coil_check_section_end(struct coil_check *c, uint64_t at);
/* Returns true if the instruction is valid here. It keeps track of scopes and types in both
 * cases. */
bool coil_check_insn(struct coil_check *c, const struct coil_insn *insn);
/* Tells whether the machine executes programs for the target. This is known after all code was
 * checked. */
bool coil_check_runs(const struct coil_check *c, penta_error *err);
/* Returns the innermost declaration of a variable, or NULL. */
const struct coil_variable *coil_check_variable(const struct coil_check *c, uint64_t id);
/* Gives the value of a DEFINITION operand, converted to the operand's type. Returns false if it has
 * none. */
bool coil_check_definition(const struct coil_check *c, const struct coil_operand *o,
                           uint64_t *bits);
/* Returns the type of an operand's value, with aliases followed and with the lanes of a vector
 * variable. Returns NULL if there is none or it is not known (a register, a reference without a
 * type). *qualifiers also has those of the declaration. */
const struct coil_type *coil_check_type(struct coil_check *c, const struct coil_operand *o,
                                        uint8_t *qualifiers);
/* Returns the letters of isa.def for the form that the instruction has, or NULL if none fits. */
const char *coil_check_form(const struct coil_insn *insn);
