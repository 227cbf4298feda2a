/* Declares a reader of lines that a person types, with editing, history and completion if the
 * build has libedit and input and output are a terminal. Otherwise it reads plain lines of
 * standard input. */
#pragma once
#include "penta/penta.h"

struct line_reader;

typedef void line_offer(void *to, penta_bytes word);
/* Offers what the last word of a line of this size may be. Words that do not begin like it are
 * ignored. */
typedef void line_complete(void *user, const char *line, size_t size, line_offer *offer, void *to);
/* Returns NULL when memory runs out. */
struct line_reader *line_open(const char *prompt, line_complete *complete, void *user,
                              bool terminal);
/* Returns the next line, without its end, or NULL at the end. The line is valid until the next
 * call. */
char *line_read(struct line_reader *r);
/* Tells whether the reader writes the prompt or needs none. Returns false when the caller must
 * write it. */
bool line_prompts(const struct line_reader *r);
void line_close(struct line_reader *r);
