/* Declares how files of a format are found inside other files: by four bytes at their start, and a
 * function that reads the head after them. penta/nested.c searches with it. */
#pragma once
#include "base/bytes.h"

struct nested_head {
    uint64_t size;       /* how many bytes the file has; 0 when its head does not tell */
    const char *dialect; /* its dialect, layout or version; may be NULL */
    /* Why the file cannot be whole although its head fits, or NULL. It is not opened then. */
    const char *broken;
    /* how many bytes are read or made in addition to those of the file, also for no head */
    uint64_t work;
    uint64_t made; /* how many bytes opening it makes, of what is compressed */
};

enum { NESTED_MAGIC = 4, NESTED_MAGICS = 3 };
struct driver_nested {
    uint32_t magics[NESTED_MAGICS + 1]; /* the first four bytes, little-endian; 0 ends the list */
    /* Reads the head of a file that may begin at the first byte of `rest` and end before its last.
     * Returns false when the bytes after the magic are no such head. */
    bool (*head)(penta_bytes rest, struct nested_head *head);
};
