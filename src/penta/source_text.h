/* The source lines of a program for a listing: where each line begins in the code, and its text. */
#pragma once
#include "base/array.h"
#include "base/writer.h"
#include "penta/debug.h"

struct source_text {
    penta_line *lines; /* sorted by the pcs where they begin */
    size_t count, capacity;
    const penta_line *shown; /* the line that was written last, or NULL */
    char *name;              /* the file whose text is kept, or NULL */
    penta_buffer text;
    penta_error *err;
};

/* Reads the line table. A program without lines is an error. The caller frees it in any case. */
bool source_text_open(struct source_text *s, const penta_module *module, penta_error *err);
/* Writes the line of an instruction where it is not that of the last instruction: the name of the file, the number,
 * and the text of the line if the file can be read. */
void source_text_row(struct source_text *s, uint64_t pc, const char *comment, struct writer *out);
void source_text_close(struct source_text *s);
