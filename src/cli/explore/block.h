/* What the explorer's page opens, as a block of the page. */
#pragma once
#include "cli/cli.h"

/* Writes a block that browsers do not execute: the file, another to compare it with (or NULL), the options, and
 * the files that options name. False: one of these cannot be read, or an option is none of the format's; it
 * was told. */
bool block_write(struct cli *c, const struct input *in, const struct input *other,
                 struct writer *out);
