/* The files of a run: lines in order, their times, lines that wait for their turn, and lines of
 * runs before.
 *
 *     RESULTS                       the lines; of a shard RESULTS.shard-K-of-N, written as ....HOST-PID.part
 *     RESULTS.times                 number, a tab and microseconds for each line that was not taken from a run before
 *     RESULTS.ahead                 lines that are finished but not in their place yet; removed at the end
 *     RESULTS.job                   what the lines are of (job.h) */
#pragma once
#include "base/writer.h"
#include "batch/lines/record.h"

struct results;
/* shard: "K/N" or "". lines: where lines go instead of files, or NULL. */
struct results *results_open(const char *path, const char *shard, penta_error *err);
/* Closes the files. complete: the run has all its lines, which are then put under their final
 * name. */
bool results_close(struct results *r, bool complete, penta_error *err);

/* An earlier line of a source, by the text of its key. */
struct earlier_line {
    penta_bytes rest; /* from "source" on, with the end of the line */
    uint8_t digest[BATCH_DIGEST];
};
bool results_has_earlier(const struct results *r);
bool results_earlier(struct results *r, penta_bytes key, struct earlier_line *out);

/* Appends whole lines, with their ends, in their order, and the lines of their times: number,
 * tab, microseconds. */
bool results_lines(struct results *r, penta_bytes lines, penta_bytes times, penta_error *err);
bool results_flush(struct results *r, penta_error *err);
/* Keeps lines that wait for their turn; gives where they are. */
bool results_ahead(struct results *r, penta_bytes lines, uint64_t *at, penta_error *err);
bool results_ahead_read(struct results *r, uint64_t at, size_t size, uint8_t *to, penta_error *err);
