/* The words of a sketch. All of a text is read at once, since the parser looks ahead freely. */
#pragma once
#include "base/arena.h"
#include "base/error.h"
#include <string.h>

enum word_kind { WORD_END, WORD_NAME, WORD_NUMBER, WORD_REAL, WORD_STRING, WORD_SIGN };
struct word {
    enum word_kind kind;
    uint32_t offset, size;
    uint32_t line; /* counted from 1 */
    /* Of WORD_NUMBER; of WORD_REAL the bits of a float; of WORD_SIGN its characters, the first one in the low byte. */
    uint32_t value;
    bool is_unsigned, is_char; /* of WORD_NUMBER: 5u or a number beyond 2^31; 'a' */
    bool first;                /* the first word of its line */
};
struct words {
    penta_bytes text;
    struct word *at; /* ends with WORD_END; the caller frees it */
    size_t count;
    uint32_t lines;
};
/* Reads all words. Their offsets begin with `origin`. Malformed ones are reported and left out. False when memory ran
 * out. */
bool words_scan(penta_bytes text, uint32_t origin, struct words *out, struct findings *findings,
                penta_error *err);
/* Compares a word. It is inline and looks at the first letter first, because the compiler asks of every word
 * whether it is one of many. */
static inline bool word_is(const struct words *w, const struct word *word, const char *name)
{
    const uint8_t *text = w->text.data + word->offset;
    return word->kind == WORD_NAME && text[0] == (uint8_t)name[0] && strlen(name) == word->size &&
           !memcmp(text, name, word->size);
}
/* The bytes of a string literal with its escapes resolved. False, with an error, on a bad escape. */
bool word_string(const struct words *w, const struct word *word, struct arena *arena,
                 penta_bytes *out, penta_error *err);
#define SIGN1(a) ((uint32_t)(unsigned char)(a))
#define SIGN2(a, b) (SIGN1(a) | SIGN1(b) << 8)
#define SIGN3(a, b, c) (SIGN2(a, b) | SIGN1(c) << 16)
