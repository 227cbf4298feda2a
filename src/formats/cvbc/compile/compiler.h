/* Shared by compile.c (declarations, statements, the file) and expressions.c (expressions). */
#pragma once
#include "cvbc/compile/compile.h"
#include "cvbc/compile/lexer.h"

enum reloc { RELOC_NONE, RELOC_BUFFER, RELOC_FUNCTION };
struct emitted { /* an instruction whose target is not final yet */
    uint8_t opcode, flags, reloc;
    uint16_t immediate; /* with a reloc: index in its buffer, or function */
    uint32_t line;
};
struct buffer {
    struct emitted *at;
    size_t count, capacity;
};

enum symbol_kind { SYMBOL_GLOBAL, SYMBOL_ARRAY, SYMBOL_LOCAL, SYMBOL_FUNCTION };
struct symbol {
    penta_bytes name;
    enum symbol_kind kind;
    int32_t place; /* slot, array id, word in the frame (arguments are negative), function */
    uint16_t elements;
    uint32_t first, last; /* instructions where a local is in scope */
    bool hidden;          /* out of scope */
};
struct function {
    penta_bytes name;
    uint32_t parameters, offset, entry; /* offset: in the source, for messages */
    bool returns, defined;
};

struct compiler {
    struct words words;
    size_t pos; /* the next word */
    struct findings *findings;
    struct arena arena;
    bool portable, failed; /* failed: no memory */
    unsigned errors, nesting;
    struct buffer arrays, init, body, *out;
    struct symbol *symbols;
    size_t symbol_count, symbol_capacity;
    struct function *functions;
    size_t function_count, function_capacity;
    penta_bytes *strings;
    size_t string_count, string_capacity;
    uint32_t globals, array_count;
    int32_t depth;                 /* words pushed since the function was entered */
    const struct function *inside; /* NULL: an initialiser */
    struct loop *loop;
};

/* compile.c */
const struct word *compiler_word(const struct compiler *c);
bool compiler_accept(struct compiler *c, uint32_t sign);
bool compiler_expect(struct compiler *c, uint32_t sign, const char *what);
bool compiler_error(struct compiler *c, uint32_t code, uint32_t offset, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
size_t compiler_emit(struct compiler *c, uint8_t opcode, uint8_t flags, uint16_t immediate,
                     enum reloc reloc);
void compiler_patch(struct compiler *c, size_t at); /* its target is here */
const struct symbol *compiler_find(const struct compiler *c, const struct word *name);
int32_t compiler_string(struct compiler *c, penta_bytes text); /* its number, or -1 */
bool compiler_enter(struct compiler *c); /* one level deeper; false: too deep */
void compiler_leave(struct compiler *c);

/* expressions.c */
bool compiler_expression(struct compiler *c);           /* leaves one word */
bool compiler_expression_statement(struct compiler *c); /* leaves none */
void compiler_constant(struct compiler *c, uint32_t value);
bool compiler_store(struct compiler *c, const struct symbol *s); /* the word on top */
