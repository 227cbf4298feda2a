/* Declares how files are written. Every file that the tool writes is checked here first: it must
 * not be a file that the command has read or written already, and must not hold a key. */
#pragma once
#include "cli/cli.h"

void output_watch(struct cli *c);   /* Keeps the name of each file that is read from now on. */
void output_unwatch(struct cli *c); /* Frees the names of files that were read. */
/* Tells whether a path may be written. Returns false when an error has been reported. */
bool output_allowed(struct cli *c, const char *path);
/* Tells whether all files that the command's options name for writing are different. Returns
 * false when an error has been reported. */
bool outputs_distinct(struct cli *c);
/* Checks options of a format that name a file to write (OPTION_WRITES). It is called after the
 * command has read its inputs. */
bool output_options_allowed(struct cli *c);
/* Writes a file completely or not at all. Returns false when an error has been reported. */
bool output_write(struct cli *c, const char *path, penta_bytes bytes);
/* Writes a new version of a file that was read. This is the only way to write such a file. */
bool output_rewrite(struct cli *c, const char *path, penta_bytes bytes);
/* Tells whether two names are of one file; false when the file does not exist. */
bool output_same_file(const char *a, const char *b);
