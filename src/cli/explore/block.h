/* Declares the block of the explorer's page that has what the page opens. */
#pragma once
#include "cli/cli.h"

/* Writes a block that browsers do not execute: the file, another file to compare it with (or
 * NULL), the options, and the files that options name. Returns false when one of these cannot be
 * read, or an option is not one of the format's; the error has been reported. */
bool block_write(struct cli *c, const struct input *in, const struct input *other,
                 struct writer *out);
