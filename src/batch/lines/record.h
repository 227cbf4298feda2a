/* A line of the results: what it begins with, and finding parts of it.
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
    penta_bytes key;    /* the text of source and grid, as it stands in the line */
    penta_bytes source; /* the string with its quotes */
    bool digested;      /* else the digest is null */
    uint8_t digest[BATCH_DIGEST];
    penta_bytes rest; /* of the line, from `"source"` on */
};
/* False: the line is none of a result. */
bool record_head_read(penta_bytes line, struct record_head *out);

/* The text of a member of a JSON object that this program has written; data NULL: there is none. */
penta_bytes json_member_text(penta_bytes object, const char *name);
/* The next value of a list, from *at on, which starts as 0. False at the end. */
bool json_list_next(penta_bytes list, size_t *at, penta_bytes *value);
/* The text of a string with its quotes, without them and unescaped; appended to out. */
void json_unquote(penta_bytes quoted, struct writer *out);

/* Appends the text as a JSON string. */
void json_quote(struct writer *out, const char *text);

/* The exit codes of sources at which a worker was stopped, as the tool and shells have them. */
enum { RECORD_DEADLINE = 25, RECORD_SIGNAL = 128 };
/* The line of such a source; `signal` 0: by the time limit. */
void record_failure(struct writer *out, uint64_t n, const char *source, const char *grid,
                    const uint8_t *digest, int signal);
