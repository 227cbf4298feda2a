/* Tokens are the same in the source texts of all assemblers (TEXT 1). They point into the
 * source; nothing is copied. */
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
        uint64_t u; /* the value of a TOKEN_INT, which may also be a character in single quotes */
        double f;
        char punct;
    } as;
};

struct source {
    const char *name;
    penta_bytes text;
    const char *comment; /* the text that starts a comment up to the end of the line: ";" or "//" */
    size_t pos;
    penta_error *err; /* the first error since a caller last cleared it */
    uint64_t runs;    /* how many bytes came from runs of equal bytes in hex (hex.h) */
};

struct token source_next(struct source *s);
struct token source_peek(const struct source *s);
bool source_accept(struct source *s, char punct);
bool source_expect(
    struct source *s,
    char punct); /* Takes this character, or makes an error such as "expected ',', found 'r3'". */
/* Makes an error unless the line ends here. */
bool source_end_of_line(struct source *s);
void source_skip_line(struct source *s); /* Goes to the next line after an error. */
/* Reads hex (hex.h) up to the end of the line. As tokens, hex digits would be mixed names and
 * numbers. */
bool source_hex(struct source *s, struct writer *out);

/* Makes the error "expected WHAT, found 'TOKEN'" at the token. Returns false. */
bool source_unexpected(struct source *s, struct token found, const char *what);

penta_bytes token_text(const struct source *s, struct token t);
/* Compares without the case of letters. */
bool token_is(const struct source *s, struct token t, const char *word);
/* Gives the bytes of a string token, in which the escapes \n \t \r \0 \\ \" \' \xNN are
 * resolved. */
bool token_string(struct source *s, struct token t, struct arena *arena, penta_bytes *out);

/* A struct place has the line and the column (in bytes) of an offset, both counted from 1, and
 * the text of the line. */
struct place {
    uint64_t line, column;
    penta_bytes text;
};
struct place source_place(penta_bytes text, uint64_t offset);
