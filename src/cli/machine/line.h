/* Reads lines that a person types, with editing, history and completion where libedit is built in
 * and input and output are a terminal; else plain lines of standard input. */
#pragma once
#include <stdbool.h>

struct line_reader;

/* words: completions of a line's first word, ended by NULL. NULL: no memory. */
struct line_reader *line_open(const char *prompt, const char *const *words, bool terminal);
/* The next line, without its end, valid until the next call; NULL: there is none. */
char *line_read(struct line_reader *r);
/* False: the caller must write the prompt. True: the editor writes it, or there is none. */
bool line_prompts(const struct line_reader *r);
void line_close(struct line_reader *r);
