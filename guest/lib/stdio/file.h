#pragma once
#include <stdio.h>

struct penta_file {
    int fd; /* -1: free */
    unsigned char can_read, can_write;
    unsigned char writing;     /* the buffer has bytes to write, not bytes that were read */
    unsigned char line, plain; /* write at the end of each line, at once */
    unsigned char at_end, failed;
    unsigned char own; /* the buffer was allocated here */
    int back;          /* 1 + the character of ungetc, 0: none */
    size_t at, end;    /* reading: where the unread bytes start and end; writing: at bytes wait */
    size_t size;       /* of the buffer */
    unsigned char *buffer;
};
