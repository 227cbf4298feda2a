/* This file declares the checker of the rules for an instruction within its function (COIL 11):
 * operand classes, types, variables and scopes. The verifier and the loader of the machine use
 * it, so they agree about what is valid. */
#pragma once
#include "coil/coil.h"
#include "coil/format/scopes.h"

struct coil_variable {
    uint64_t id;
    const struct coil_type *type; /* type of the variable, with type ids replaced by their types */
    uint8_t ext;
    /* depth is the number of open scopes around the variable, serial its number among the
     * declarations of the function. */
    uint32_t depth, serial;
};
struct coil_value { /* a definition of the preprocessor */
    uint64_t id;    /* the id of the definition, or the string offset of its name */
    bool text, live, has_value;
    uint8_t op;
    uint64_t bits;
};

struct coil_check {
    const struct coil_module *m; /* NULL for a single instruction without a module */
    struct findings *findings;   /* NULL if errors are only counted */
    uint64_t origin;             /* offset in the file at which the section begins */
    size_t errors;               /* number of errors of the last instruction */
    uint32_t first;              /* code of the first error of the last instruction */
    struct coil_type_ids ids;
    struct arena arena; /* memory for the types of the function */
    /* These are the variables that are declared in open scopes. They are found through `scopes`. */
    struct coil_variable *variables;
    size_t variable_count, variable_capacity;
    struct coil_scopes scopes, value_index;
    uint32_t depth, serials;
    struct coil_value *values;
    size_t value_count, value_capacity;
    bool conditions[64], taken[64];
    unsigned nesting;
    bool last_condition;
    struct coil_header target; /* the target in the header, with the parts that PPTARG sets */
    uint64_t target_at;        /* place of the PPTARG that set a part of the target, or 0 */
    /* This is true if the instruction belongs to the preprocessor or was removed by it. */
    bool removed;
    bool after_call; /* true if a call left the flags unspecified */
    bool no_memory;
};

void coil_check_init(struct coil_check *c, const struct coil_module *m, struct findings *f);
void coil_check_fini(struct coil_check *c);
void coil_check_function(struct coil_check *c); /* begins the check of a function */
void coil_check_function_end(struct coil_check *c, uint64_t at);
void coil_check_section_end(struct coil_check *c, uint64_t at);
/* Returns true if the instruction is valid here. In both cases it records the scopes and types
 * that the instruction changes. */
bool coil_check_insn(struct coil_check *c, const struct coil_insn *insn);
/* Tells whether the machine executes programs for the target. The answer is known only when all
 * code has been checked. */
bool coil_check_runs(const struct coil_check *c, penta_error *err);
/* Returns the innermost declaration of a variable, or NULL if there is none. */
const struct coil_variable *coil_check_variable(const struct coil_check *c, uint64_t id);
/* Gives the value of a DEFINITION operand, converted to the operand's type. Returns false if the
 * operand has no value. */
bool coil_check_definition(const struct coil_check *c, const struct coil_operand *o,
                           uint64_t *bits);
/* Returns the type of an operand's value, with aliases resolved and with the lanes of a vector
 * variable. Returns NULL if the operand has no type or it is not known, as for a register or a
 * reference without a type. *qualifiers gets the qualifiers of the operand and of the
 * declaration. */
const struct coil_type *coil_check_type(struct coil_check *c, const struct coil_operand *o,
                                        uint8_t *qualifiers);
/* Returns the form that the instruction has, as letters of isa.def, or NULL if no form fits. */
const char *coil_check_form(const struct coil_insn *insn);
