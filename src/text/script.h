/* Host scripts: text files that tell a default host what to answer, or what its inputs are. One
 * statement a line, '#' starts a comment; what a statement is, the format says
 * (TEXT 5). Errors name the script and the line.
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
    penta_buffer text; /* stays until script_close; take it over to keep words */
    struct source source;
    penta_error why; /* the first error, with the offset in the script */
};

bool script_open(struct script *s, const char *path, penta_error *err);
/* Goes to the next statement; false at the end, and after an error. */
bool script_line(struct script *s);
/* Frees the text. False when there was an error. */
bool script_close(struct script *s, penta_error *err);

/* The run of letters, digits, '_', '.', ':' and bytes above 127 that comes next; may be empty. A
 * name of another form is a string in quotes, without escapes. */
penta_bytes script_word(struct script *s);
/* A number up to max. */
bool script_number(struct script *s, uint64_t max, uint64_t *out);
/* One of the words of a list; `what` says what they are. */
bool script_choice(struct script *s, const char *what, word_list *words, size_t *which);
/* The error that this word, the last one read, is not known; with the nearest one. */
bool script_unknown(struct script *s, const char *what, const struct suggest *near);
