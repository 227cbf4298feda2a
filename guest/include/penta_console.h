/* The host calls of the console (docs/formats/pvm/hosts.md), for programs that do not use
 * <stdio.h>. Negative results are errors: the numbers of <errno.h>, negated. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include "penta_guest.h"

enum { /* flags of console_open */
       CONSOLE_READ = 1,
       CONSOLE_WRITE = 2,
       CONSOLE_CREATE = 4,
       CONSOLE_TRUNCATE = 8,
       CONSOLE_APPEND = 16,
       CONSOLE_EXCLUSIVE = 32,
};

PENTA_IMPORT(long, console_write, int, const void *, size_t);
PENTA_IMPORT(long, console_read, int, void *, size_t);
PENTA_IMPORT(long, console_open, const char *, size_t, unsigned);
PENTA_IMPORT(long, console_close, int);
PENTA_IMPORT(long, console_seek, int, long, int);
PENTA_IMPORT(long, console_remove, const char *, size_t);
PENTA_IMPORT(long, console_rename, const char *, size_t, const char *, size_t);
PENTA_IMPORT(long, console_arguments, char *, size_t);
PENTA_IMPORT(long, console_clock, int, uint64_t *);
PENTA_IMPORT(long, console_sleep, unsigned long);
PENTA_IMPORT(long, console_random, void *, size_t);
PENTA_IMPORT(void, console_exit, int);
