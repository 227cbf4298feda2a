/* Declares the files of a batch that are found on the disk: results, and the files of shards. */
#pragma once
#include "base/writer.h"
#include "batch/lines/record.h"

struct batch_lines { /* A mapped file of lines. */
    const uint8_t *data;
    size_t size;
};
/* Opens a file of lines. A missing or empty file has no data. Returns false when the file cannot
 * be read. */
bool batch_lines_open(const char *path, struct batch_lines *out, penta_error *err);
void batch_lines_close(struct batch_lines *f);
/* Reads the next whole line from *at on, without its end. */
bool batch_lines_next(const struct batch_lines *f, size_t *at, penta_bytes *line);

enum shard_state { SHARD_MISSING, SHARD_STARTED, SHARD_DONE };
struct shard_files {
    uint64_t count;  /* number of shards, or 0 when there are none */
    uint8_t *states; /* the state of each shard */
    char **started;  /* for each shard the longest file of an attempt, or NULL */
};
/* Finds the files of shards. `planned` is how many shards there should be, or 0. Fails when the
 * files belong to divisions into different numbers of shards. */
bool shard_files_find(const char *results, uint64_t planned, struct shard_files *out,
                      penta_error *err);
void shard_files_free(struct shard_files *f);
/* Returns the name RESULTS.shard-K-of-N with an ending. */
char *shard_path(const char *results, uint64_t number, uint64_t count, const char *end,
                 penta_error *err);
