/* Declares a line on standard error that shows that a long command still works. It is written
 * only on a terminal, only after half a second, and erased before anything else is written. It
 * has its own thread, because machines and linkers call nothing while they work. */
#pragma once
#include "cli/cli.h"

/* Begins the line. `what` is a constant word, never a string of a file. With `working` the line
 * is shown only while the process computes, since a program may wait for its user. */
void progress_begin(struct cli *c, const char *what, bool working);
void progress_count(struct cli *c, size_t passed, size_t failed);
/* Shows this text from now on, instead of the word and numbers. It has no control characters. */
void progress_text(struct cli *c, const char *text);
void progress_end(struct cli *c);

/* Erases the line and does not write it until it is released. terminal.c calls these. `in_line`
 * means that the text ends in the middle of a line, where no progress line can be. */
void progress_hold(const struct cli *c);
void progress_release(const struct cli *c, bool in_line);
