/* One line on standard error that says that a long command is alive: only on a terminal, only after
 * half a second, and erased before anything else is written. A thread of its own keeps it, because
 * machines and linkers call nobody while they work. */
#pragma once
#include "cli/cli.h"

/* `what` is a word of ours, never of a file. A program may wait for its user, who must not be
 * disturbed: `working` shows the line only while the process computes. */
void progress_begin(struct cli *c, const char *what, bool working);
void progress_count(struct cli *c, size_t passed, size_t failed);
void progress_end(struct cli *c);

/* For terminal.c: the line is erased and stays away until it is released. `in_line`: what was
 * written ends in the middle of a line, so that ours would have no place. */
void progress_hold(const struct cli *c);
void progress_release(const struct cli *c, bool in_line);
