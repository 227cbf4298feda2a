/* The files of a batch, found on the disk: results, and those of shards. */
#pragma once
#include "base/writer.h"
#include "batch/lines/record.h"

struct batch_lines { /* a file of lines, mapped */
    const uint8_t *data;
    size_t size;
};
/* A missing or empty file has no data; false when it cannot be read. */
bool batch_lines_open(const char *path, struct batch_lines *out, penta_error *err);
void batch_lines_close(struct batch_lines *f);
/* The next whole line from *at on, without its end. */
bool batch_lines_next(const struct batch_lines *f, size_t *at, penta_bytes *line);

enum shard_state { SHARD_MISSING, SHARD_STARTED, SHARD_DONE };
struct shard_files {
    uint64_t count;  /* of shards; 0: none */
    uint8_t *states; /* of each */
    char **started;  /* of each the longest file of an attempt, or NULL */
};
/* `planned`: of how many there should be, or 0. Fails when there are files of several divisions. */
bool shard_files_find(const char *results, uint64_t planned, struct shard_files *out,
                      penta_error *err);
void shard_files_free(struct shard_files *f);
/* RESULTS.shard-K-of-N and an ending. */
char *shard_path(const char *results, uint64_t number, uint64_t count, const char *end,
                 penta_error *err);
