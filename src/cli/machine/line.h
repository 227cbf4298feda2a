/* Reads lines that a person types, with editing, history and completion where libedit is built in
 * and input and output are a terminal; else plain lines of standard input. */
#pragma once
#include "penta/penta.h"

struct line_reader;

typedef void line_offer(void *to, penta_bytes word);
/* Offers what the last word of a line of this size may be; others than those that begin like it are ignored. */
typedef void line_complete(void *user, const char *line, size_t size, line_offer *offer, void *to);
/* Returns NULL when memory runs out. */
struct line_reader *line_open(const char *prompt, line_complete *complete, void *user,
                              bool terminal);
/* The next line, without its end, valid until the next call; NULL: there is none. */
char *line_read(struct line_reader *r);
/* False: the caller must write the prompt. True: the editor writes it, or there is none. */
bool line_prompts(const struct line_reader *r);
void line_close(struct line_reader *r);
