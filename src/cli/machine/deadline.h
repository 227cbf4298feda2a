/* Declares the deadline of --timeout. It counts from the start of the command, so that reading
 * and compiling are included. */
#pragma once
#include "cli/cli.h"

/* Starts the deadline if the option was given, unless it has started already. Returns false when
 * the value is no number of seconds, which has been reported. `passed` is called in the signal
 * handler, every 10 ms once the time is over. */
bool deadline_begin(struct cli *c, void (*passed)(void));
void deadline_end(void);
/* Returns a flag that is not 0 between the end of the time and deadline_end, for functions of
 * the library that end when a flag is set. */
const volatile int *deadline_flag(void);
/* Reports a deadline that has passed, with its exit code, for a command that has no machine
 * (yet). Returns false when it has not passed. */
bool deadline_reported(struct cli *c, const char *file);
