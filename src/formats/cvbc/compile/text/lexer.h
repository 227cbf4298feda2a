/* The lexer splits a sketch into words. All words of a text are read at once, because the parser
 * looks ahead. */
#pragma once
#include "base/arena.h"
#include "base/error.h"
#include <string.h>

enum word_kind { WORD_END, WORD_NAME, WORD_NUMBER, WORD_REAL, WORD_STRING, WORD_SIGN };
struct word {
    enum word_kind kind;
    uint32_t offset, size;
    uint32_t line; /* number of the line, counted from 1 */
    /* This is the value of a WORD_NUMBER, the bits of a WORD_REAL, or the characters of a
     * WORD_SIGN, the first one in the low byte. */
    uint32_t value;
    bool is_unsigned, is_char; /* for WORD_NUMBER: 5u or a number beyond 2^31; 'a' */
    bool first;                /* true for the first word of a line */
};
struct words {
    penta_bytes text;
    struct word *at; /* the words, with WORD_END at the end; the caller frees them */
    size_t count;
    uint32_t lines;
};
/* Reads all words. Their offsets begin with `origin`. Malformed words are reported and left out.
 * Returns false if memory ran out. */
bool words_scan(penta_bytes text, uint32_t origin, struct words *out, struct findings *findings,
                penta_error *err);
/* Compares a word with a name. The function is inline and compares the first letter first,
 * because the compiler compares each word with many names. */
static inline bool word_is(const struct words *w, const struct word *word, const char *name)
{
    const uint8_t *text = w->text.data + word->offset;
    return word->kind == WORD_NAME && text[0] == (uint8_t)name[0] && strlen(name) == word->size &&
           !memcmp(text, name, word->size);
}
/* Gives the bytes of a string literal with its escapes resolved. Returns false, with an error,
 * if an escape is wrong. */
bool word_string(const struct words *w, const struct word *word, struct arena *arena,
                 penta_bytes *out, penta_error *err);
#define SIGN1(a) ((uint32_t)(unsigned char)(a))
#define SIGN2(a, b) (SIGN1(a) | SIGN1(b) << 8)
#define SIGN3(a, b, c) (SIGN2(a, b) | SIGN1(c) << 16)
