/* The texts of a sketch: itself and the headers of its own that it includes, one after another in one text. */
#pragma once
#include "base/writer.h"

struct source {
    penta_bytes name; /* as the line with #include has it; empty for the sketch */
    size_t offset, size;
    uint32_t included_at;     /* the offset of that line in the sketch */
    size_t word;              /* the first of its words */
    bool once, missing, open; /* once: #pragma once was reached; open: it is being read */
};
struct sources {
    struct writer text;
    struct source *at;
    size_t count, capacity;
    penta_bytes main;
};

/* Reads the headers in `folder`, and theirs. Those that are not there are noted as missing. folder: NULL for none. False
 * when memory ran out, or there is too much text. */
bool sources_read(struct sources *s, penta_bytes sketch, const char *folder, penta_error *err);
void sources_free(struct sources *s);
struct source *sources_find(struct sources *s, penta_bytes name);
/* Moves an error in a header to the line of the sketch that includes it, and names the place in its message. */
void sources_place(const struct sources *s, penta_error *err);
