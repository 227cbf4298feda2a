/* Declares a line of the results, and functions that find parts of it.
 *
 *     {"n":0,"source":"a.pvm","digest":"...","exit":0,"verdict":"yes","size":400,"format":"pvm","findings":[],"document":{...}}
 *
 * n, source, grid (in sweeps), digest and exit come first, in this order, whatever --fields
 * leaves out of the rest. */
#pragma once
#include "base/writer.h"
#include "batch/work/protocol.h"

struct record_head {
    uint64_t n;
    penta_bytes key;    /* the text of source and grid, as the line has it */
    penta_bytes source; /* the string with its quotes */
    bool digested;      /* false when the digest is null */
    uint8_t digest[BATCH_DIGEST];
    penta_bytes rest; /* the part of the line from `"source"` on */
};
/* Reads the beginning of a line. Returns false when the line is not a result. */
bool record_head_read(penta_bytes line, struct record_head *out);

/* Returns the text of a member of a JSON object that penta has written; its data is NULL when
 * the member is absent. */
penta_bytes json_member_text(penta_bytes object, const char *name);
/* Reads the next value of a list. *at starts as 0. Returns false at the end. */
bool json_list_next(penta_bytes list, size_t *at, penta_bytes *value);
/* Appends the text of a string to `out`, without its quotes and unescaped. */
void json_unquote(penta_bytes quoted, struct writer *out);

/* Appends the text as a JSON string. */
void json_quote(struct writer *out, const char *text);

/* The exit codes of sources at which a worker was stopped. They are the codes of the tool and of
 * shells. */
enum { RECORD_DEADLINE = 25, RECORD_SIGNAL = 128 };
/* Writes the line of a source at which a worker was stopped. `signal` is 0 when the time limit
 * stopped it. */
void record_failure(struct writer *out, uint64_t n, const char *source, const char *grid,
                    const uint8_t *digest, int signal);
