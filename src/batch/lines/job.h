/* Declares a job, which is what lines of results depend on: verb, options, the files that these
 * name, version. RESULTS.job has the job as JSON, so that a second run with the same results
 * continues only if it has the same job. */
#pragma once
#include "base/writer.h"
#include "batch/work/protocol.h"
#include "penta/batch.h"

enum { GRID_MAX = 16 };
struct grid { /* A grid is every combination of the values of some options. */
    char *text;
    const char *names[GRID_MAX], *values[GRID_MAX]; /* each element of `values` is a list of
                                                     * words with ':' between them */
    size_t count;
    uint64_t combinations; /* number of combinations; 1 when the job has no grid */
};
bool grid_parse(const char *text, struct grid *out, penta_error *err);
void grid_free(struct grid *g);
/* Writes a combination, such as "rate=1,epochs=2". The last option changes first. Returns false
 * when memory ran out. */
bool grid_text(const struct grid *g, uint64_t combination, struct writer *out, penta_error *err);

bool job_digest(const penta_batch_job *job, uint8_t out[BATCH_DIGEST], penta_error *err);
/* Compares the job with the one of the existing results, or writes it there. `planned` is the
 * number of shards of a plan, or 0. */
bool job_settle(const penta_batch_job *job, const uint8_t digest[BATCH_DIGEST], uint64_t planned,
                penta_error *err);
/* Returns the name RESULTS with an ending, or NULL when memory ran out. */
char *job_path(const char *results, const char *end, penta_error *err);
/* Reads the text of RESULTS.job, which the caller frees. */
bool job_read(const char *results, penta_buffer *text, penta_error *err);
/* Returns the number of shards in the text of RESULTS.job, or 0 when the job was not planned. */
uint64_t job_shards(penta_bytes text);
