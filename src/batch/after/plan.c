/* Makes the plan of a job for a scheduler. The sources are listed once, with their sizes, so
 * that every shard divides the same list even when the folders change meanwhile. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/file/file.h"
#include "batch/list/archive.h"
#include "batch/lines/job.h"
#include "batch/list/shard.h"
#include "batch/list/source.h"

bool penta_batch_names(const char *const *sources, size_t count, penta_buffer *names,
                       penta_error *err)
{
    struct source_list list = {.words = sources, .word_count = count, .names_only = true};
    struct writer all = {0};
    struct source source;
    *err = (penta_error){0};
    struct sources *s = sources_open(&list, err);
    while (s && sources_next(s, &source, err))
        writer_bytes(&all, source.name, strlen(source.name) + 1);
    sources_close(s);
    return writer_give(&all, !err->code, names, err);
}

static bool plan_list(const penta_batch_job *job, struct writer *all, penta_error *err)
{
    struct source_list list = {.words = job->sources,
                               .word_count = job->source_count,
                               .from = job->from,
                               .results = job->results,
                               .whole_archives = true};
    struct source source;
    struct sources *s = sources_open(&list, err);
    while (s && sources_next(s, &source, err)) {
        struct stat st;
        bool known = !stat(source.name, &st) && S_ISREG(st.st_mode);
        writer_print(all, "%" PRIu64 "\t", known ? (uint64_t)st.st_size : 0);
        writer_bytes(all, source.name, strlen(source.name) + 1);
    }
    sources_close(s);
    return !err->code && writer_ok(all, err);
}

bool penta_batch_plan(const penta_batch_job *job, penta_error *err)
{
    uint8_t digest[BATCH_DIGEST];
    struct writer all = {0};
    *err = (penta_error){0};
    if (!job->planned || job->planned > SHARD_MAX)
        return error_at(err, BASE_OPTION_VALUE, 0, "option 'shards': 1 to %d", SHARD_MAX);
    char *path = job_path(job->results, ".list", err);
    bool ok = path && job_digest(job, digest, err) && job_settle(job, digest, job->planned, err) &&
              plan_list(job, &all, err) && file_write(path, writer_view(&all), err);
    free(path);
    writer_free(&all);
    return ok;
}
