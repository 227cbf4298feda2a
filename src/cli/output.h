/* Writing files. Every file that the tool writes is checked here first: it must not be a file that
 * the command has read or written already, and must not hold a key. */
#pragma once
#include "cli/cli.h"

void output_watch(struct cli *c);   /* remembers each file that is read from now on */
void output_unwatch(struct cli *c); /* forgets them */
/* Whether path may be written; an error has been reported when not. */
bool output_allowed(struct cli *c, const char *path);
/* Whether all files that the options of the command name for writing are different ones; an error has been
 * reported when not. */
bool outputs_distinct(struct cli *c);
/* The same for options of a format that name a file to write (OPTION_WRITES), once what the
 * command reads has been read. */
bool output_options_allowed(struct cli *c);
/* All or nothing; false: an error has been reported. */
bool output_write(struct cli *c, const char *path, penta_bytes bytes);
/* The only way to write a file that was read: its own new version. */
bool output_rewrite(struct cli *c, const char *path, penta_bytes bytes);
/* Whether two names are of one file; false when there is no such file. */
bool output_same_file(const char *a, const char *b);
