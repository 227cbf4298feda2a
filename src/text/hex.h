/* Bytes in assembly text: pairs of hex digits, and `00*4096` for that many bytes 00. Printers write
 * runs of equal bytes so, and every assembler reads it. */
#pragma once
#include "base/writer.h"

enum {
    HEX_RUNS_MAX = 1 << 28, /* bytes that runs of one text may make */
    HEX_FOLDS = 1 << 25,    /* bytes that one call below writes as runs, so that the sum fits */
};

/* On one line, pieces separated by spaces. */
void hex_line(struct writer *out, penta_bytes bytes);
/* One row: 32 bytes, or a run. Returns how many bytes it holds; *folds starts as HEX_FOLDS. */
size_t hex_row(struct writer *out, penta_bytes bytes, size_t *folds);
/* All rows: the first starts with `first`, others with `next`, and each is a line. */
void hex_rows(struct writer *out, const char *first, const char *next, penta_bytes bytes);
/* Reads such a line. *runs counts the bytes of runs, over several calls. False: *bad is where in
 * the text, and *limit tells whether runs are too long or the text is no hex. */
bool hex_read(penta_bytes text, struct writer *out, uint64_t *runs, size_t *bad, bool *limit);
