/* Writing text. Everything that the tool writes to standard output and standard error goes through
 * terminal.c, which makes control sequences harmless; tests/programs/layers.py finds code that
 * writes there in another way. c->out, cli_stderr and the output of programs all end here. */
#pragma once
#include "cli/cli.h"

void terminal_open(struct cli *c);                 /* is called before anything is written */
void terminal_bound(struct cli *c);                /* is called when the command line is known */
void terminal_text(void *user, penta_bytes piece); /* the sink of c->out; user is the struct cli */
void terminal_ended(struct cli *c);                /* writes what is still held back */
/* For signal handlers: writes a text that was prepared, to standard output if it is the result, and ends the process. */
void terminal_last_words(bool is_result, const char *text, size_t size, int exit);
/* Standard input and output as two other descriptors, for a protocol: what is read or written by accident
 * does not reach it. False: that failed. terminal_take_back closes them in any case. */
bool terminal_give_up(int *in, int *out);
void terminal_take_back(int in, int out);
/* A line on standard error that is no finding: "penta: ..." */
void terminal_say(const struct cli *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
