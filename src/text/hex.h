/* Bytes in assembly text (TEXT 3) are pairs of hex digits, and `00*4096` stands for a run of
 * 4096 bytes 00. Printers write runs of equal bytes in this form, and every assembler reads it. */
#pragma once
#include "base/writer.h"

enum {
    HEX_RUNS_MAX = 1 << 28, /* the most bytes that the runs of one text may stand for */
    HEX_FOLDS = 1 << 25,    /* the most bytes that one call below writes as runs */
};

/* Writes all bytes on one line, with spaces between runs and other bytes. */
void hex_line(struct writer *out, penta_bytes bytes);
/* Writes one row: up to 32 bytes, or a run. Returns how many bytes the row stands for. *folds
 * must be HEX_FOLDS at the first row. */
size_t hex_row(struct writer *out, penta_bytes bytes, size_t *folds);
/* Writes all bytes in rows, each on a line of its own. The first line starts with `first`, the
 * others with `next`. */
void hex_rows(struct writer *out, const char *first, const char *next, penta_bytes bytes);
/* Reads a line that the functions above wrote. *runs counts the bytes of runs over several
 * calls. On false, *bad is the offset of the error, and *limit says whether the runs are too
 * long; otherwise the text is no hex. */
bool hex_read(penta_bytes text, struct writer *out, uint64_t *runs, size_t *bad, bool *limit);
