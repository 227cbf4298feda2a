/* Tokens for every assembler (TEXT 1). Tokens point into the source; nothing is copied. */
#pragma once
#include "base/arena.h"
#include "base/writer.h"

/* clang-format off */
enum token_kind {
    TOKEN_END, TOKEN_LINE, TOKEN_NAME, TOKEN_DIRECTIVE, TOKEN_INT, TOKEN_FLOAT, TOKEN_STRING,
    TOKEN_PUNCT,
};
/* clang-format on */

struct token {
    enum token_kind kind;
    uint64_t offset;
    uint32_t size;
    union {
        uint64_t u; /* of TOKEN_INT, which also is a character in single quotes */
        double f;
        char punct;
    } as;
};

struct source {
    const char *name;
    penta_bytes text;
    const char *comment; /* what starts a comment that ends with the line: ";" or "//" */
    size_t pos;
    penta_error *err; /* the first error since a caller last cleared it */
    uint64_t runs;    /* how many bytes came from runs in hex (hex.h) */
};

struct token source_next(struct source *s);
struct token source_peek(const struct source *s);
bool source_accept(struct source *s, char punct);
bool source_expect(struct source *s, char punct); /* its error: "expected ',', found 'r3'" */
bool source_end_of_line(struct source *s);        /* error unless the line ends here */
void source_skip_line(struct source *s);          /* after an error: go to the next line */
/* Reads hex (hex.h) up to the end of the line. As tokens, hex digits would be names and numbers. */
bool source_hex(struct source *s, struct writer *out);

/* Makes the error "expected WHAT, found 'TOKEN'" at the token. Returns false. */
bool source_unexpected(struct source *s, struct token found, const char *what);

penta_bytes token_text(const struct source *s, struct token t);
bool token_is(const struct source *s, struct token t,
              const char *word); /* ignores the case of letters */
/* The bytes of a string token. Resolves the escapes \n \t \r \0 \\ \" \' \xNN. */
bool token_string(struct source *s, struct token t, struct arena *arena, penta_bytes *out);

/* The line and the column (in bytes) of an offset, both counted from 1, and the text of the line. */
struct place {
    uint64_t line, column;
    penta_bytes text;
};
struct place source_place(penta_bytes text, uint64_t offset);
