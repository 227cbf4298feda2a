/* Bytes in assembly text (TEXT 3): pairs of hex digits, and `00*4096` for a run of 4096 bytes
 * 00. Printers write runs of equal bytes in this form, and every assembler reads it. */
#pragma once
#include "base/writer.h"

enum {
    HEX_RUNS_MAX = 1 << 28, /* the most bytes that the runs of one text may stand for */
    HEX_FOLDS = 1 << 25,    /* the most bytes that one call below writes as runs */
};

/* Writes all on one line, with spaces between runs and other bytes. */
void hex_line(struct writer *out, penta_bytes bytes);
/* Writes one row: up to 32 bytes, or a run. Returns how many bytes; *folds starts as HEX_FOLDS. */
size_t hex_row(struct writer *out, penta_bytes bytes, size_t *folds);
/* Writes all rows, a line each; the first starts with `first`, the others with `next`. */
void hex_rows(struct writer *out, const char *first, const char *next, penta_bytes bytes);
/* Reads such a line. *runs counts the bytes of runs, over several calls. False: *bad is the offset,
 * and *limit says whether the runs are too long or the text is no hex. */
bool hex_read(penta_bytes text, struct writer *out, uint64_t *runs, size_t *bad, bool *limit);
