/* Text out. Everything that the tool writes to standard output and standard error goes through
 * terminal.c, which removes what a terminal would obey; tests/programs/layers.py finds whoever writes
 * there otherwise. c->out ends here, and so do cli_stderr and the output of programs. */
#pragma once
#include "cli/cli.h"

void terminal_open(struct cli *c);                 /* first of all */
void terminal_text(void *user, penta_bytes piece); /* the sink of c->out; user is the struct cli */
void terminal_ended(struct cli *c);                /* what was held of the program's output */
/* A line on standard error that is no finding: "penta: ..." */
void terminal_say(const struct cli *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
