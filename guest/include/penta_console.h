/* Declares the host calls of the console (docs/formats/pvm/hosts.md), for programs that do not
 * use <stdio.h>. Negative results are errors: the numbers of <errno.h>, negated. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include "penta_guest.h"

enum { /* the flags of console_open */
       CONSOLE_READ = 1,
       CONSOLE_WRITE = 2,
       CONSOLE_CREATE = 4,
       CONSOLE_TRUNCATE = 8,
       CONSOLE_APPEND = 16,
       CONSOLE_EXCLUSIVE = 32,
       CONSOLE_FOLDER = 64, /* opens a folder, for console_entries */
};

struct console_stat {  /* The result of console_stat and console_fstat. */
    uint64_t number;   /* number of the file, unique among the files in one folder of the host */
    uint64_t size;     /* size in bytes */
    uint64_t modified; /* time of the last change, in nanoseconds since 1970 */
    uint32_t mode;     /* type and rights, as in <sys/stat.h> */
    uint32_t folder;   /* number of the host's folder that has the file; the first folder given
                        * is 0 */
};

struct console_entry { /* A record of console_entries. The name follows it, without a zero. */
    uint64_t number;
    uint8_t kind; /* type of the entry, as in <dirent.h> */
    uint8_t size; /* size of the name */
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
