/* The files of the checker of instructions share this state and these functions. */
#pragma once
#include "coil/format/check/check.h"
#include "coil/scalars/ops.h"

#define REPORT(c, code, at, ...)                                                                   \
    do {                                                                                           \
        if (!(c)->errors++) (c)->first = code;                                                     \
        if ((c)->findings)                                                                         \
            findings_add((c)->findings, code, (c)->origin + (at), NULL, __VA_ARGS__);              \
    } while (0)

/* Called if there is no memory for something that the checks need. The rules cannot be checked
 * then, so the error "no memory" is reported once. */
static inline void coil_check_no_memory(struct coil_check *c, uint64_t at)
{
    if (!c->no_memory) REPORT(c, BASE_MEMORY, at, "no memory to check the code");
    c->no_memory = true;
}

static inline void coil_check_warn(struct coil_check *c, uint32_t code, uint64_t at,
                                   const char *text)
{
    if (c->findings && c->m) findings_add(c->findings, code, c->origin + at, NULL, "%s", text);
}

struct seen { /* the types of an instruction's operands, each found only once */
    const struct coil_type *type[COIL_OPERANDS_MAX];
    uint8_t qualifiers[COIL_OPERANDS_MAX];
    bool reg[COIL_OPERANDS_MAX];
};

static inline bool is_matrix(const struct coil_type *t)
{
    return t && coil_types[t->op].family == COIL_F_MATRIX;
}
static inline bool is_vector(const struct coil_type *t)
{
    return t && coil_types[t->op].family == COIL_F_VECTOR;
}
static inline bool is_array(const struct coil_type *t)
{
    return t && (is_vector(t) || is_matrix(t) || coil_types[t->op].family == COIL_F_TENSOR);
}
static inline bool int_lanes(const struct coil_type *t)
{
    return coil_is_int(t->op) || coil_is_wide(t) ||
           (is_vector(t) && (!t->elem || coil_is_int(t->elem->op) || t->elem->op == COIL_T_VOID));
}
static inline bool type_sized(const struct coil_type *t)
{
    return t && t->op != COIL_T_VOID && t->size;
}

/* check_preproc.c defines the function below. */
/* Returns true if the instruction belongs to the preprocessor or is removed by it. */
bool coil_check_preprocess(struct coil_check *c, const struct coil_insn *insn);
/* check_operands.c defines the functions below. */
/* coil_check_operand checks the rules for any operand. coil_check_class checks the rules for its
 * position, according to a class letter. */
void coil_check_operand(struct coil_check *c, const struct coil_operand *o,
                        const struct coil_type *type);
bool coil_check_class(struct coil_check *c, const struct coil_insn *insn,
                      const struct coil_operand *o, const struct seen *s, char letter);
/* check_together.c defines the function below. */
/* Checks the rules about several operands of an instruction. */
void coil_check_together(struct coil_check *c, const struct coil_insn *insn, struct seen *s,
                         const char *form);
