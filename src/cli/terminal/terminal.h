/* Declares how text is written. Everything that the tool writes to standard output and standard
 * error goes through terminal.c, which makes control sequences harmless.
 * tests/programs/layers.py finds code that writes in another way. c->out, cli_stderr and the
 * output of programs all end here. */
#pragma once
#include "cli/cli.h"

void terminal_open(struct cli *c);                 /* Must be called before anything is written. */
void terminal_bound(struct cli *c);                /* Must be called when the command line is
                                                    * known. */
void terminal_text(void *user, penta_bytes piece); /* Is the sink of c->out; `user` is the struct
                                                    * cli. */
void terminal_ended(struct cli *c);                /* Writes what is still held back. */
/* Writes a prepared text, to standard output if it is the result, and ends the process. It is
 * for signal handlers. */
void terminal_last_words(bool is_result, const char *text, size_t size, int exit);
/* Moves standard input and output to two other descriptors, for a protocol, so that accidental
 * reads and writes do not reach the protocol. Returns false on failure. terminal_take_back
 * closes the descriptors in any case. */
bool terminal_give_up(int *in, int *out);
void terminal_take_back(int in, int out);
/* Prints a line "penta: ..." on standard error that is not a finding. */
void terminal_say(const struct cli *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
