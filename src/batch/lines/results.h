/* Declares the files of a run: lines in order, their times, lines that wait for their turn, and
 * lines of earlier runs.
 *
 *     RESULTS                       the lines; of a shard RESULTS.shard-K-of-N, written as ....HOST-PID.part
 *     RESULTS.times                 number, a tab and microseconds for each line that was not taken from a run before
 *     RESULTS.ahead                 lines that are finished but not in their place yet; removed at the end
 *     RESULTS.job                   what the lines are of (job.h) */
#pragma once
#include "base/writer.h"
#include "batch/lines/record.h"

struct results;
/* Opens the files. `shard` is "K/N" or "". */
struct results *results_open(const char *path, const char *shard, penta_error *err);
/* Closes the files. `complete` means that the run has all its lines, which then get their final
 * name. */
bool results_close(struct results *r, bool complete, penta_error *err);

/* A line of an earlier run, found by the key of its source. */
struct earlier_line {
    penta_bytes rest; /* the text from "source" on, with the end of the line */
    uint8_t digest[BATCH_DIGEST];
};
bool results_has_earlier(const struct results *r);
bool results_earlier(struct results *r, penta_bytes key, struct earlier_line *out);

/* Appends whole lines in their order. `times` has a line for each: its number, a tab,
 * microseconds. */
bool results_lines(struct results *r, penta_bytes lines, penta_bytes times, penta_error *err);
bool results_flush(struct results *r, penta_error *err);
/* Stores lines that wait for their turn. *at becomes their place in the file. */
bool results_ahead(struct results *r, penta_bytes lines, uint64_t *at, penta_error *err);
bool results_ahead_read(struct results *r, uint64_t at, size_t size, uint8_t *to, penta_error *err);
