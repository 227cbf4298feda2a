#pragma once
#include <stdio.h>

struct penta_file {
    int fd;                                                  /* -1: free */
    unsigned char can_read, can_write, writing, line, plain; /* line, plain: how it is buffered */
    unsigned char at_end, failed, own;
    int back;       /* 1 + the character that was put back, 0: none */
    size_t at, end; /* of what was read ahead; at alone: what waits to be written */
    size_t size;
    unsigned char *buffer;
};
