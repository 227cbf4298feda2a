/* A host script is a text file that tells a default host what to answer, or what its inputs are
 * (TEXT 5). A line is one statement, and '#' starts a comment; each format has statements of its
 * own. Errors name the script and the line. A script is read so:
 *
 *     struct script s;
 *     if (!script_open(&s, path, err)) return false;
 *     while (script_line(&s) && read_statement(&s)) {}
 *     return script_close(&s, err); */
#pragma once
#include "base/options.h"
#include "base/suggest.h"
#include "text/lexer.h"

struct script {
    const char *path;
    penta_buffer
        /* The text stays until script_close; a caller that keeps words takes over the buffer. */
        text;
    struct source source;
    penta_error why; /* the first error, with the offset in the script */
};

bool script_open(struct script *s, const char *path, penta_error *err);
/* Goes to the next statement. Returns false at the end and after an error. */
bool script_line(struct script *s);
/* Frees the text. Returns false when there was an error. */
bool script_close(struct script *s, penta_error *err);

/* Takes the letters, digits, '_', '.', ':' and bytes above 127 that come next; the word may be
 * empty. A name with other characters is written as a string in quotes, without escapes. */
penta_bytes script_word(struct script *s);
/* Reads a number that is not above `max`. */
bool script_number(struct script *s, uint64_t max, uint64_t *out);
/* Reads one word of a list. `what` names the kind of words in error messages. */
bool script_choice(struct script *s, const char *what, word_list *words, size_t *which);
/* Makes the error that the last word read is unknown, with the nearest known word. Returns
 * false. */
bool script_unknown(struct script *s, const char *what, const struct suggest *near);
