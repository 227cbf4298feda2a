/* The texts of a sketch are the sketch itself and the headers in its folder that it includes,
 * one after the other in one text. */
#pragma once
#include "base/writer.h"

struct source {
    penta_bytes name; /* name as in the line with #include; empty for the sketch */
    size_t offset, size;
    uint32_t included_at;     /* offset of that line in the sketch */
    size_t word;              /* index of the first of its words */
    bool once, missing, open; /* once: #pragma once was found; open: the header is being read */
};
enum { SOURCES_LIBRARIES = 2 };
struct sources {
    struct writer text;
    struct source *at;
    size_t count, capacity;
    penta_bytes main;
    bool libraries[SOURCES_LIBRARIES]; /* whether Wire.h and SPI.h are included */
    penta_bytes *macros;               /* names of all macros, for messages */
    size_t macro_count, macro_capacity;
    bool lacking; /* true if a header does not exist */
};

/* Reads the headers in `folder`, and those that they include. Headers that do not exist are
 * marked as missing. If `folder` is NULL, there are no headers. Returns false if memory ran out,
 * or if there is too much text. */
bool sources_read(struct sources *s, penta_bytes sketch, const char *folder, penta_error *err);
void sources_free(struct sources *s);
struct source *sources_find(struct sources *s, penta_bytes name);
/* Moves an error in a header to the line of the sketch that includes the header, and names the
 * place in its message. */
void sources_place(const struct sources *s, penta_error *err);
