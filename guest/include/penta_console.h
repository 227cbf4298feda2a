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
       CONSOLE_FOLDER = 64, /* a folder, for console_entries */
};

struct console_stat {  /* of console_stat and console_fstat */
    uint64_t number;   /* of the file: of two files in one folder of the host, not the same */
    uint64_t size;     /* in bytes */
    uint64_t modified; /* nanoseconds since 1970 */
    uint32_t mode;     /* as in <sys/stat.h> */
    uint32_t folder;   /* in which folder of the host it is: 0 is the first that was given */
};

struct console_entry { /* of console_entries; the name follows, without a zero */
    uint64_t number;
    uint8_t kind; /* as in <dirent.h> */
    uint8_t size; /* of the name */
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
PENTA_IMPORT(long, console_environment, char *, size_t);
PENTA_IMPORT(long, console_stat, const char *, size_t, struct console_stat *);
PENTA_IMPORT(long, console_fstat, int, struct console_stat *);
PENTA_IMPORT(long, console_entries, int, void *, size_t);
PENTA_IMPORT(long, console_make_folder, const char *, size_t);
PENTA_IMPORT(long, console_remove_folder, const char *, size_t);
PENTA_IMPORT(long, console_truncate, int, const uint64_t *);
PENTA_IMPORT(long, console_sync, int);
