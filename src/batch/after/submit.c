/* Submits a job to Slurm with sbatch: a script for an array of shards, and one for the merge
 * after them. Tasks that are queued again continue where they were ended, because the files of
 * earlier attempts stay. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/bytes.h"
#include "base/file/file.h"
#include "base/json/json_write.h"
#include "batch/lines/job.h"
#include "batch/work/process.h"

extern char **environ;

struct submit {
    const penta_batch_job *job;
    const penta_batch_cluster *how;
    char program[PATH_MAX], folder[PATH_MAX];
    uint64_t shards;
    char *script, *merge_script, *list;
};

/* Writes a word in quotes for the shell. A quote in it becomes '\'', as in 'it'\''s'. */
static void submit_word(struct writer *out, const char *word)
{
    writer_text(out, " '");
    for (; *word; word++) {
        if (*word == '\'')
            writer_text(out, "'\\''");
        else
            writer_char(out, *word);
    }
    writer_char(out, '\'');
}

static void submit_option(struct writer *out, const char *option, const char *value)
{
    if (!value) return;
    writer_print(out, " --%s", option);
    submit_word(out, value);
}

static void submit_head(struct writer *out, const char *name)
{
    writer_print(
        out,
        "#!/bin/sh\n#SBATCH --job-name=penta-%s\n#SBATCH --requeue\n#SBATCH --open-mode=append\n",
        name);
}

static void submit_array(struct writer *out, const struct submit *s)
{
    const penta_batch_job *job = s->job;
    submit_head(out, "batch");
    writer_print(out, "#SBATCH --array=0-%" PRIu64, s->shards - 1);
    if (s->how->nodes) writer_print(out, "%%%" PRIu64, s->how->nodes);
    if (job->jobs) writer_print(out, "\n#SBATCH --cpus-per-task=%u", job->jobs);
    writer_text(out, "\ncd");
    submit_word(out, s->folder);
    writer_text(out, " || exit 4\nexec");
    submit_word(out, s->program);
    writer_print(out, " batch %s", job->verb);
    for (size_t i = 0; i < job->argument_count; i++) submit_word(out, job->arguments[i]);
    submit_option(out, "from", s->list);
    submit_option(out, "results", job->results);
    submit_option(out, "fields", job->fields);
    submit_option(out, "files-to", job->files_to);
    submit_option(out, "cache", job->cache);
    submit_option(out, "grid", job->grid);
    if (job->file_timeout > 0) writer_print(out, " --%s %g", "file-timeout", job->file_timeout);
    if (job->file_memory) writer_print(out, " --%s %" PRIu64, "file-memory", job->file_memory);
    submit_option(out, "shard", "auto");
    writer_print(out, " --%s \"${SLURM_CPUS_PER_TASK:-1}\"\n", "jobs");
}

static void submit_merge(struct writer *out, const struct submit *s)
{
    submit_head(out, "merge");
    writer_text(out, "cd");
    submit_word(out, s->folder);
    writer_text(out, " || exit 4\nexec");
    submit_word(out, s->program);
    writer_text(out, " batch merge");
    submit_word(out, s->job->results);
    writer_char(out, '\n');
}

static bool submit_write(const char *path, struct writer *text, penta_error *err)
{
    bool ok = writer_ok(text, err) && file_write(path, writer_view(text), err);
    writer_free(text);
    return ok;
}

/* Runs sbatch. *answer gets what sbatch prints, without the end of the line. */
static bool submit_call(char *const *words, char *answer, size_t size, penta_error *err)
{
    int ends[2], status = 0;
    size_t used = 0;
    pid_t pid;
    posix_spawn_file_actions_t actions;
    if (pipe2(ends, O_CLOEXEC))
        return error_at(err, BASE_IO, 0, "cannot start sbatch: %s", strerror(errno));
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    int result = posix_spawnp(&pid, words[0], &actions, NULL, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    for (ssize_t n;
         !result && used + 1 < size && (n = read(ends[0], answer + used, size - 1 - used)) > 0;)
        used += (size_t)n;
    close(ends[0]);
    answer[used] = 0;
    answer[strcspn(answer, "\n;")] = 0;
    if (result) {
        error_at(err, BASE_IO, 0, "cannot start sbatch: %s", strerror(result));
        return error_note(err, "it is part of Slurm; option 'dry-run' writes the scripts only");
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(status) && !WEXITSTATUS(status) && *answer) return true;
    return error_at(err, BASE_IO, 0, "sbatch has failed: exit code %d",
                    WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

static bool submit_jobs(const struct submit *s, struct json *j, penta_error *err)
{
    char array[64], merge[64], dependency[100], log[PATH_MAX + 40], merge_log[PATH_MAX + 40];
    snprintf(log, sizeof log, "--output=%s.shard-%%a.log", s->job->results);
    snprintf(merge_log, sizeof merge_log, "--output=%s.merge.log", s->job->results);
    char *first[] = {"sbatch", "--parsable", log, s->script, NULL};
    if (!submit_call(first, array, sizeof array, err)) return false;
    json_text(j, "array", array);
    snprintf(dependency, sizeof dependency, "--dependency=afterany:%s", array);
    char *second[] = {"sbatch", "--parsable", merge_log, dependency, s->merge_script, NULL};
    if (!submit_call(second, merge, sizeof merge, err)) return false;
    json_text(j, "merge", merge);
    return true;
}

bool penta_batch_submit(const penta_batch_job *job, const penta_batch_cluster *how,
                        penta_buffer *json, penta_error *err)
{
    struct submit s = {.job = job, .how = how, .shards = job->planned};
    struct writer out = {0}, array = {0}, merge = {0};
    struct json j = {.out = &out};
    char program[PATH_MAX];
    *err = (penta_error){0};
    bool ok =
        process_program(job->program, program, sizeof program, err) && penta_batch_plan(job, err);
    if (ok && (!realpath(program, s.program) || !getcwd(s.folder, sizeof s.folder)))
        ok = error_at(err, BASE_IO, 0, "cannot name the tool or the folder: %s", strerror(errno));
    s.script = job_path(job->results, ".array.sh", err);
    s.merge_script = job_path(job->results, ".merge.sh", err);
    s.list = job_path(job->results, ".list", err);
    ok = ok && s.script && s.merge_script && s.list;
    if (ok) submit_array(&array, &s);
    if (ok) submit_merge(&merge, &s);
    ok = ok && submit_write(s.script, &array, err) && submit_write(s.merge_script, &merge, err);
    json_object(&j, NULL);
    json_uint(&j, "shards", s.shards);
    if (s.script) json_text(&j, "script", s.script);
    if (s.merge_script) json_text(&j, "merge_script", s.merge_script);
    json_bool(&j, "submitted", ok && !how->dry_run);
    if (ok && !how->dry_run) ok = submit_jobs(&s, &j, err);
    json_end(&j);
    free(s.script);
    free(s.merge_script);
    free(s.list);
    return writer_give(&out, ok, json, err);
}
