/* What lines of results are of: verb, options, the files that these name, version. RESULTS.job
 * has it as JSON, so that a second run with the same results goes on only when it is of the same
 * job. */
#pragma once
#include "base/writer.h"
#include "batch/work/protocol.h"
#include "penta/batch.h"

enum { GRID_MAX = 16 };
struct grid { /* every combination of the values of some options */
    char *text;
    const char *names[GRID_MAX], *values[GRID_MAX]; /* values: words with ':' between them */
    size_t count;
    uint64_t combinations; /* 1 without a grid */
};
bool grid_parse(const char *text, struct grid *out, penta_error *err);
void grid_free(struct grid *g);
/* "rate=1,epochs=2": the last option changes first. False: memory ran out. */
bool grid_text(const struct grid *g, uint64_t combination, struct writer *out, penta_error *err);

bool job_digest(const penta_batch_job *job, uint8_t out[BATCH_DIGEST], penta_error *err);
/* Compares the job with the one of these results, or writes it there. `planned`: of how many
 * shards, or 0. */
bool job_settle(const penta_batch_job *job, const uint8_t digest[BATCH_DIGEST], uint64_t planned,
                penta_error *err);
/* RESULTS and an ending; NULL: memory ran out. */
char *job_path(const char *results, const char *end, penta_error *err);
/* The text of RESULTS.job, for the caller to free. */
bool job_read(const char *results, penta_buffer *text, penta_error *err);
/* The number of shards in that text; 0: it was not planned. */
uint64_t job_shards(penta_bytes text);
