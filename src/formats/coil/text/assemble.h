/* The files of the assembler share this state. Symbols are in the symbol table in the order in
 * which their names first appear in the text. */
#pragma once
#include "coil/format/object.h"
#include "coil/format/scopes.h"
#include "text/expr.h"
#include "text/labels.h"

struct asm_variable {
    penta_bytes name; /* name of the variable; empty if it has only a number */
    uint64_t id;
    const struct coil_type *type;
    uint32_t depth;
};

struct asm_line { /* a source line for the debugger, or the id and name of a variable */
    uint32_t section, line;
    uint64_t offset;
    penta_bytes file;
};

struct asm_data { /* a run of elements of the same type in a data section */
    uint32_t section;
    uint64_t from, end;
    uint8_t type;
};

struct coil_asm {
    struct source *s;
    struct findings *findings;
    const penta_option *options;
    size_t option_count;
    struct arena arena;  /* memory for texts and types */
    struct labels names; /* The value of a name is the index of its symbol. */
    /* The value of a name is the index of the first section with this name. */
    struct labels section_names;
    struct coil_object object;
    size_t section; /* index of the current section */
    bool bare, raw;
    penta_bytes image; /* contents of .image: the whole file, byte for byte */
    struct writer image_bytes;
    uint64_t *defined_at; /* per symbol: 1 + the offset in the source where it is defined, or 0 */
    uint8_t *bind_set;
    size_t symbol_room;
    penta_bytes entry;

    int64_t function; /* index of the symbol of the open .func, or -1 */
    uint64_t function_at;
    uint64_t function_offset;
    /* These are the variables of open scopes. asm_find_variable finds them through `scopes`. */
    struct asm_variable *variables;
    size_t variable_count, variable_capacity;
    struct coil_scopes scopes;
    uint32_t depth;
    uint64_t next_id;
    struct coil_insn *insn;
    struct coil_type_ids ids;

    bool aligned; /* true after .align code: instructions are aligned as the target requires */
    bool lines_wanted;
    struct asm_line *lines;
    size_t line_count, line_capacity;
    struct asm_line *variable_names;
    size_t name_count, name_capacity;
    penta_bytes variable_name; /* name given by .name, for the variable of the next VAR */
    struct asm_data *data;     /* types of data; collected only if source lines are wanted */
    size_t data_count, data_capacity;
    penta_bytes line_file; /* file given by .line, for the next instruction */
    uint32_t line_number;
    const struct asm_origin *origins; /* where the lines of an expanded text come from, or NULL */
    size_t origin_count;
};

/* Tells where a line of the expanded text comes from. */
struct asm_origin {
    uint64_t at;       /* offset of the line in the expanded text */
    uint64_t original; /* offset of the line in the source text */
    uint32_t line;
    penta_bytes file; /* name of an included file; empty for the source itself */
};

/* assemble.c defines the functions below. */
/* Returns the index of the symbol with a name, and adds the symbol if the name is new. Returns
 * -1 if there is no memory. */
int64_t asm_symbol(struct coil_asm *a, penta_bytes name);
bool asm_room(struct coil_asm *a); /* makes room in the arrays that have an entry for each symbol */
/* The local name .x in function f stands for f.x. */
penta_bytes asm_local_name(struct coil_asm *a, penta_bytes name);
static inline struct coil_out_section *asm_section(struct coil_asm *a)
{
    return &a->object.sections[a->section];
}

/* Checks that a section is selected, because contents need one: after .layout bare there is none
 * at the start. */
static inline bool asm_inside(struct coil_asm *a, struct token t)
{
    return a->object.section_count ||
           error_at(a->s->err, COIL_DIRECTIVE, t.offset, "no section is selected");
}
static inline bool asm_word(const struct source *s, struct token t, const char *text)
{
    return t.kind == TOKEN_NAME && token_is(s, t, text);
}

/* assemble_types.c defines the functions below. */
bool asm_unsigned(struct coil_asm *a, uint64_t max, uint64_t *value);
const struct coil_type *asm_type(struct coil_asm *a, unsigned level);
bool asm_is_type(struct coil_asm *a, struct token t);

/* assemble_literals.c defines the functions below. */
struct asm_literal {
    bool negative, real;
    uint64_t magnitude;
    struct token token; /* token of the number, which is a word for inf and nan */
    uint64_t at;
};
bool asm_is_literal(const struct source *s, struct token t);
bool asm_literal_parse(struct coil_asm *a, struct asm_literal *l);
/* Computes the bits that a literal has in a scalar type. */
bool asm_literal_bits(struct coil_asm *a, const struct asm_literal *l, uint8_t op, uint64_t *bits);
bool asm_wide_literal(struct coil_asm *a, const struct asm_literal *literal,
                      const struct coil_type *type, struct coil_operand *o);
/* Reads a literal and computes its bits. */
bool asm_number(struct coil_asm *a, uint8_t type, uint64_t *bits);

/* assemble_operands.c defines the functions below. */
enum { ASM_PENDING = 0x80 }; /* form of a literal whose type is not known yet */

struct asm_parsed {
    struct coil_operand *o;
    struct asm_literal literal; /* the literal, if the form is ASM_PENDING */
    /* This is true if literals without a type may take the type of this operand. */
    bool typed;
    const struct coil_type *lanes; /* declared type of a vector variable */
    uint64_t at;                   /* offset of the operand in the source */
};
bool asm_operand(struct coil_asm *a, struct asm_parsed *p, uint8_t opcode, unsigned i);
/* Reads the name or number of a symbol after @ and gives its index. */
bool asm_symbol_operand(struct coil_asm *a, struct token t, uint64_t *index);
/* Returns the innermost declaration of a variable, by name or by number, or NULL if there is
 * none. */
const struct asm_variable *asm_find_variable(const struct coil_asm *a, penta_bytes name,
                                             uint64_t id, bool numeric);
bool asm_push_variable(struct coil_asm *a, struct asm_variable v);
/* Removes the variables of deeper scopes. */
void asm_pop_variables(struct coil_asm *a, uint32_t depth);
void asm_plain(struct coil_operand *o, uint8_t op, uint8_t ext, uint8_t form, uint64_t value);

/* directives.c defines the function below. */
bool asm_align_code(struct coil_asm *a, uint64_t at);
/* assemble_insn.c defines the functions below. */
bool coil_asm_instruction(struct coil_asm *a, struct token mnemonic);
bool asm_opcode(struct coil_asm *a); /* assembles a line .opcode 0xNN, operands */

/* assemble_proto.c defines the function below. */
bool asm_proto(struct coil_asm *a); /* assembles a line .proto NAME, result(arguments) */

/* directives.c defines the function below. */
bool asm_directive(struct coil_asm *a, struct token t);

/* preprocess.c defines the function below. */
/* Executes the lines that begin with '!'. If the text has no such line, *expanded does not
 * change. Returns false if errors were reported. */
bool asm_preprocess(struct coil_asm *a, penta_bytes text, penta_bytes *expanded);
