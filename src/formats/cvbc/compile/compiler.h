/* What the files of the compiler share: declarations.c, statements.c, expressions.c, calls.c, types.c, and
 * compile.c, which makes the file. */
#pragma once
#include "cvbc/compile/compile.h"
#include "cvbc/compile/lexer.h"
#include "cvbc/compile/names.h"

enum reloc { RELOC_NONE, RELOC_BUFFER, RELOC_FUNCTION };
struct emitted { /* an instruction whose target is not final so far */
    uint8_t opcode, flags, reloc;
    uint16_t immediate; /* with a relocation: an index in its buffer, or a function */
    uint32_t line;
};
struct buffer {
    struct emitted *at;
    size_t count, capacity;
};

/* All numbers are words of 32 bits; a narrower type bounds what a variable holds. */
struct type {
    uint8_t bits; /* 0 for void, 1 for bool, else 8, 16 or 32 */
    bool is_unsigned, is_char;
    bool is_const, is_static, is_text; /* of a declaration; is_text stands for const char * */
};
/* What is known about the word that an expression left. */
struct value {
    struct type type; /* int or unsigned after arithmetic */
    bool known;       /* the value is known at compile time */
    uint32_t number;
};

enum symbol_kind {
    SYMBOL_GLOBAL,
    SYMBOL_ARRAY,
    SYMBOL_LOCAL,
    SYMBOL_FUNCTION,
    SYMBOL_CONSTANT,
    SYMBOL_TEXT,
};
enum { DIMENSIONS = 3, ARRAY_MAX = 64 };
struct symbol {
    penta_bytes name;
    enum symbol_kind kind;
    struct type type; /* for an array the type of its elements */
    /* A slot, an array id, a word in the frame (negative for arguments), or a function. */
    int32_t place;
    uint32_t number; /* the value of a constant */
    penta_bytes text;
    uint16_t elements, dims[DIMENSIONS]; /* dims: 0 after the last dimension */
    uint32_t first, last;                /* the instructions in which a local is in scope */
    bool hidden;                         /* the name is out of scope */
    bool library; /* from the library: a program may use the name for something else */
};
struct function {
    penta_bytes name;
    struct type result;
    const struct type *types; /* the types of the parameters */
    uint32_t parameters, offset, entry,
        end; /* offset: where it stands in the source; end: the end of its code */
    bool defined, called, library;
    size_t word; /* the word at which its type begins */
};

struct region { /* the instructions of a loop */
    uint32_t first, last;
    uint32_t rounds; /* how often it runs; 0 when unknown */
};

struct compiler {
    struct words words;
    size_t pos;     /* the next word */
    size_t library; /* the first word of the library */
    uint32_t source_size;
    struct findings *findings;
    struct arena arena;
    bool portable, failed; /* failed: memory ran out */
    unsigned errors, nesting;
    struct buffer arrays, init, body, *out;
    struct symbol *symbols;
    size_t symbol_count, symbol_capacity;
    struct name_index symbol_names;
    struct function *functions;
    size_t function_count, function_capacity;
    penta_bytes *strings;
    size_t string_count, string_capacity;
    penta_bytes *type_names; /* the names that enum and typedef introduced */
    size_t type_name_count, type_name_capacity;
    struct name_index type_name_index;
    struct region *loops;
    size_t loop_count, loop_capacity;
    uint32_t globals, array_count;
    int32_t depth;                 /* how many words were pushed since the start of the function */
    const struct function *inside; /* NULL in an initialiser */
    struct loop *loop;
    struct value value; /* what is known about the last expression */
    const bool *pins;   /* for each number whether the pin is declared; NULL when no pin is */
};

/* compile.c: words, errors, code */
const struct word *compiler_word(const struct compiler *c);
bool compiler_is(const struct compiler *c, const char *name); /* the next word */
bool compiler_accept(struct compiler *c, uint32_t sign);
bool compiler_expect(struct compiler *c, uint32_t sign, const char *what);
bool compiler_error(struct compiler *c, uint32_t code, uint32_t offset, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
size_t compiler_emit(struct compiler *c, uint8_t opcode, uint8_t flags, uint16_t immediate,
                     enum reloc reloc);
/* Emits an instruction and counts the words on the stack. */
void compiler_op(struct compiler *c, uint8_t opcode, uint16_t immediate);
size_t compiler_jump(struct compiler *c, uint8_t opcode, size_t to);
void compiler_patch(struct compiler *c, size_t at); /* makes the next instruction its target */
const struct symbol *compiler_find(const struct compiler *c, const struct word *name);
int32_t compiler_string(struct compiler *c, penta_bytes text); /* its number, or -1 */
bool compiler_enter(struct compiler *c); /* goes one level deeper; false when that is too deep */
void compiler_leave(struct compiler *c);
bool compiler_no_memory(struct compiler *c); /* notes that memory ran out; false */
/* Before some words are compiled: whether the work is over. Then the text ends here. */
bool compiler_over(struct compiler *c);
penta_bytes compiler_text(const struct compiler *c, const struct word *w);
#define COMPILER_GROW(c, items, count, capacity)                                                   \
    (ARRAY_RESERVE(items, capacity, (count) + 1) || compiler_no_memory(c))
#define WORD_ARG(c, w)                                                                             \
    (int)((w)->size > 40 ? 40 : (w)->size), (const char *)(c)->words.text.data + (w)->offset

/* types.c */
bool compiler_is_type(const struct compiler *c, const struct word *w);
bool compiler_type(struct compiler *c,
                   struct type *out); /* parses the words of a type and a * after it */
bool compiler_refused(struct compiler *c,
                      const struct word *w); /* reports a word that the language lacks */
void compiler_convert(struct compiler *c, struct type to); /* the word on top */
unsigned compiler_size_of(struct type t);
extern const struct type type_int, type_unsigned, type_bool;

/* expressions.c */
bool compiler_expression(struct compiler *c);           /* leaves one word; takes no commas */
bool compiler_condition(struct compiler *c);            /* the same, up to a ? */
bool compiler_expression_statement(struct compiler *c); /* leaves no word */
bool compiler_constant_expression(struct compiler *c, uint32_t *value); /* leaves no code */
void compiler_constant(struct compiler *c, uint32_t value);
void compiler_store(struct compiler *c, const struct symbol *s); /* the word on top */
/* calls.c: compiles a call. `name` is the word of its name, and the next word is the parenthesis. */
bool compiler_call(struct compiler *c, const struct word *name, bool *leaves);
bool compiler_method(struct compiler *c, const struct word *name, bool *leaves); /* Serial.x(...) */
bool compiler_literal(struct compiler *c, penta_bytes *text); /* reads adjacent strings as one */
/* Calls a function of the library: [a b -> f(a, b)]. */
void compiler_helper(struct compiler *c, const char *name);

/* statements.c */
bool compiler_block(struct compiler *c);
void compiler_recover(struct compiler *c); /* skips to the end of a statement */
void compiler_close_scope(struct compiler *c, size_t scope, int32_t depth);

/* declarations.c */
void compiler_find_functions(struct compiler *c, size_t from, bool library);
bool compiler_top_level(struct compiler *c);
bool compiler_local_declaration(struct compiler *c, size_t scope);
bool compiler_library_function(struct compiler *c, struct function *f);
bool compiler_enum(struct compiler *c); /* called after the word enum */

extern const char *const cvbc_library;
