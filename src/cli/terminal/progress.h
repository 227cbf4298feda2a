/* One line on standard error that shows that a long command still works: only on a terminal, only
 * after half a second, and erased before anything else is written. It has its own thread, because
 * machines and linkers call nothing while they work. */
#pragma once
#include "cli/cli.h"

/* `what` is a constant word, never a string of a file. working: shows the line only while the
 * process computes, since a program may wait for its user. */
void progress_begin(struct cli *c, const char *what, bool working);
void progress_count(struct cli *c, size_t passed, size_t failed);
/* Shows this text from now on, instead of the word and numbers. It has no control characters. */
void progress_text(struct cli *c, const char *text);
void progress_end(struct cli *c);

/* For terminal.c: erases the line and does not write it until it is released. in_line: the text
 * that was written ends in the middle of a line, where no progress line can be. */
void progress_hold(const struct cli *c);
void progress_release(const struct cli *c, bool in_line);
