#pragma once
#include <stdio.h>

struct penta_file {
    int fd; /* -1: free */
    unsigned char can_read, can_write;
    unsigned char writing;     /* the buffer has bytes to write, not bytes that were read */
    unsigned char line, plain; /* write at the end of each line, at once */
    unsigned char at_end, failed;
    unsigned char own;            /* the buffer was allocated here */
    unsigned char backs, back[4]; /* characters of ungetc, the last one is read first */
    signed char orientation;      /* of fwide */
    size_t at, end; /* reading: where the unread bytes start and end; writing: at bytes wait */
    size_t size;    /* of the buffer */
    unsigned char *buffer;
};

/* A place for a stream, or NULL and EMFILE. It is taken when its descriptor is set. */
FILE *penta_file_place(void);
/* What fopen does with `mode`: flags of penta_system_open, 0 when it is no mode. */
int penta_file_flags(const char *mode);
FILE *penta_file_on(FILE *f, int fd, int flags);
