/* The deadline of --timeout. It counts from when the command begins, so that reading and compiling are a part of it. */
#pragma once
#include "cli/cli.h"

/* Starts it, if the option was given, unless it runs already. False: its value is no number of seconds, which has been
 * reported. `passed` is called in the signal handler, every 10 ms once the time is over. */
bool deadline_begin(struct cli *c, void (*passed)(void));
void deadline_end(void);
/* Is not 0 between the end of the time and deadline_end: for functions of the library that end when a flag is set. */
const volatile int *deadline_flag(void);
/* If it has passed: reports that, with its exit code, for a command that has no machine (yet). */
bool deadline_reported(struct cli *c, const char *file);
