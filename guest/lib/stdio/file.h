#pragma once
#include <stdio.h>

struct penta_file {
    int fd; /* -1 when the place is free */
    unsigned char can_read, can_write;
    unsigned char writing;     /* The buffer has bytes to write, not bytes that were read. */
    unsigned char line, plain; /* `line`: write at the end of each line; `plain`: write at once */
    unsigned char at_end, failed;
    unsigned char own;            /* The library allocated the buffer. */
    unsigned char backs, back[4]; /* characters of ungetc, of which the last is read first */
    signed char orientation;      /* the result of fwide */
    size_t at, end; /* When reading: the range of unread bytes. When writing: `at` bytes wait. */
    size_t size;    /* size of the buffer */
    unsigned char *buffer;
};

/* Returns a place for a stream, or NULL with EMFILE. The place is taken when its descriptor is
 * set. */
FILE *penta_file_place(void);
/* Returns the flags of penta_system_open for a mode of fopen, or 0 when it is not a mode. */
int penta_file_flags(const char *mode);
FILE *penta_file_on(FILE *f, int fd, int flags);
