/* Merges the results of shards, and tells how far a batch has come. Lines carry their numbers,
 * which alone decide the order. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/array.h"
#include "base/bytes.h"
#include "base/file/file.h"
#include "base/json/json_write.h"
#include "base/number.h"
#include "batch/lines/fields.h"
#include "batch/lines/job.h"
#include "batch/after/shards.h"
#include "batch/list/source.h"
#include "penta/batch.h"

enum { MERGE_PIECE = 1 << 20 };

struct merge_input {
    struct batch_lines file;
    size_t at;
    penta_bytes line; /* the next line; its data is NULL at the end of the file */
    uint64_t n;
};

struct merge {
    struct merge_input *inputs; /* a heap: the input with the least n comes first */
    size_t count;
    FILE *out;
    const char *path;
};

static bool merge_next(struct merge_input *in, uint64_t shard, penta_error *err)
{
    struct record_head head;
    if (!batch_lines_next(&in->file, &in->at, &in->line)) {
        in->line = (penta_bytes){0};
        in->n = UINT64_MAX;
        return true;
    }
    if (!record_head_read(in->line, &head))
        return error_at(err, BASE_JSON, in->at - in->line.size - 1,
                        "shard %" PRIu64 ": this is no line of results", shard);
    in->n = head.n;
    return true;
}

static void merge_sink(struct merge *m, size_t at)
{
    for (;;) {
        size_t least = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < m->count; child++)
            if (m->inputs[child].n < m->inputs[least].n) least = child;
        if (least == at) return;
        struct merge_input kept = m->inputs[at];
        m->inputs[at] = m->inputs[least];
        m->inputs[least] = kept;
        at = least;
    }
}

static bool merge_open(struct merge *m, const char *results, penta_error *err)
{
    m->inputs = zeros_new(m->count * sizeof *m->inputs, "shards", err);
    bool ok = m->inputs != NULL;
    for (size_t i = 0; ok && i < m->count; i++) {
        char *path = shard_path(results, i, m->count, "", err);
        ok = path && batch_lines_open(path, &m->inputs[i].file, err) &&
             merge_next(&m->inputs[i], i, err);
        free(path);
    }
    for (size_t i = m->count; ok && i-- > 0;) merge_sink(m, i);
    return ok;
}

static bool merge_write(struct merge *m, penta_batch_totals *totals, penta_error *err)
{
    for (uint64_t n = 0; m->inputs[0].line.data; n++) {
        struct merge_input *in = &m->inputs[0];
        if (in->n != n)
            return error_at(
                err, BASE_STATE, 0,
                in->n < n ? "source %" PRIu64 " is in several shards: they are not of one list"
                          : "source %" PRIu64 " is in no shard: they are not of one list",
                in->n < n ? in->n : n);
        int exit = (int)fields_exit(in->line);
        totals->done++;
        totals->exits[exit & 255]++;
        if (exit > totals->exit_max) totals->exit_max = exit;
        if (fwrite(in->line.data, 1, in->line.size + 1, m->out) != in->line.size + 1)
            return error_at(err, BASE_IO, 0, "cannot write '%.60s': %s", m->path, strerror(errno));
        if (!merge_next(in, 0, err)) return false;
        merge_sink(m, 0);
    }
    return true;
}

/* Fails with the numbers of the shards that are not complete. */
static bool merge_complete(const struct shard_files *files, penta_error *err)
{
    char list[90] = "";
    size_t used = 0, missing = 0;
    for (uint64_t i = 0; i < files->count; i++) {
        if (files->states[i] == SHARD_DONE) continue;
        missing++;
        if (used < sizeof list - 24)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%" PRIu64,
                                     used ? ", " : "", i);
        else if (used < sizeof list - 4)
            used += (size_t)snprintf(list + used, sizeof list - used, "...");
    }
    if (!files->count) return error_at(err, BASE_STATE, 0, "there are no shards");
    if (!missing) return true;
    error_at(err, BASE_STATE, 0, "missing of %" PRIu64 " shards: %s", files->count, list);
    return error_note(err, "option 'shard' runs them again: K/%" PRIu64, files->count);
}

static bool merge_times(const char *results, uint64_t count, penta_error *err)
{
    struct writer all = {0};
    char *out = job_path(results, ".times", err);
    for (uint64_t i = 0; i < count && out; i++) {
        struct batch_lines file;
        penta_error none = {0};
        char *path = shard_path(results, i, count, ".times", err);
        if (path && batch_lines_open(path, &file, &none)) {
            writer_bytes(&all, file.data, file.size);
            batch_lines_close(&file);
        }
        free(path);
    }
    bool ok = out && writer_ok(&all, err) && file_write(out, writer_view(&all), err);
    free(out);
    writer_free(&all);
    return ok;
}

bool penta_batch_merge(const char *results, penta_batch_totals *totals, penta_error *err)
{
    struct shard_files files = {0};
    penta_buffer text = {0};
    struct merge m = {0};
    *err = (penta_error){0};
    *totals = (penta_batch_totals){0};
    char *path = job_path(results, ".merging", err);
    bool ok =
        path && job_read(results, &text, err) &&
        shard_files_find(results, job_shards((penta_bytes){text.data, text.size}), &files, err) &&
        merge_complete(&files, err);
    m.count = files.count;
    m.path = path;
    ok = ok && merge_open(&m, results, err);
    if (ok && !(m.out = fopen(path, "we")))
        ok = error_at(err, BASE_IO, 0, "cannot write '%.60s': %s", path, strerror(errno));
    if (ok) setvbuf(m.out, NULL, _IOFBF, MERGE_PIECE);
    ok = ok && merge_write(&m, totals, err);
    if (ok && (fflush(m.out) || fsync(fileno(m.out))))
        ok = error_at(err, BASE_IO, 0, "cannot write '%.60s': %s", path, strerror(errno));
    if (m.out && fclose(m.out) && ok)
        ok = error_at(err, BASE_IO, 0, "cannot write '%.60s': %s", path, strerror(errno));
    ok = ok && merge_times(results, m.count, err);
    if (ok && rename(path, results))
        ok = error_at(err, BASE_IO, 0, "cannot write '%.60s': %s", results, strerror(errno));
    if (!ok && m.out) unlink(path);
    totals->listed = totals->done;
    totals->complete = ok;
    for (size_t i = 0; m.inputs && i < m.count; i++) batch_lines_close(&m.inputs[i].file);
    free(m.inputs);
    free(path);
    shard_files_free(&files);
    penta_buffer_free(&text);
    return ok;
}

struct status {
    uint64_t lines, exits[256];
    struct best { /* The best result of a sweep. */
        double accuracy;
        struct writer line;
    } best;
};

static void status_best(struct status *s, penta_bytes line)
{
    penta_bytes grid = json_member_text(line, "grid");
    penta_bytes accuracy = json_member_text(json_member_text(line, "document"), "accuracy");
    char text[40];
    if (!grid.data || !accuracy.data || accuracy.size >= sizeof text) return;
    bytes_copy(text, accuracy);
    text[accuracy.size] = 0;
    double value = strtod(text, NULL);
    if (s->best.line.out.size && value <= s->best.accuracy) return;
    s->best.accuracy = value;
    s->best.line.out.size = 0;
    writer_bytes(&s->best.line, line.data, line.size);
}

static bool status_file(struct status *s, const char *path, uint64_t *lines, penta_error *err)
{
    struct batch_lines file;
    penta_bytes line;
    size_t at = 0;
    *lines = 0;
    if (!batch_lines_open(path, &file, err)) return false;
    while (batch_lines_next(&file, &at, &line)) {
        ++*lines;
        s->lines++;
        s->exits[fields_exit(line) & 255]++;
        status_best(s, line);
    }
    batch_lines_close(&file);
    return true;
}

static bool status_shards(struct status *s, struct json *j, const char *results,
                          const struct shard_files *files, uint64_t *done, penta_error *err)
{
    static const char *const names[] = {"missing", "started", "done"};
    bool ok = true;
    json_list(j, "shards");
    for (uint64_t i = 0; ok && i < files->count; i++) {
        uint64_t lines = 0;
        char *whole =
            files->states[i] == SHARD_DONE ? shard_path(results, i, files->count, "", err) : NULL;
        const char *path = whole ? whole : files->started[i];
        ok = !path || status_file(s, path, &lines, err);
        *done += files->states[i] == SHARD_DONE;
        json_object(j, NULL);
        json_uint(j, "shard", i);
        json_text(j, "state", names[files->states[i]]);
        json_uint(j, "lines", lines);
        json_end(j);
        free(whole);
    }
    json_end(j);
    return ok;
}

static void status_write(const struct status *s, struct json *j)
{
    json_uint(j, "lines", s->lines);
    json_object(j, "exits");
    for (int i = 0; i < 256; i++) {
        char name[8];
        snprintf(name, sizeof name, "%d", i);
        if (s->exits[i]) json_uint(j, name, s->exits[i]);
    }
    json_end(j);
    if (!s->best.line.out.size) return;
    penta_bytes line = writer_view(&s->best.line);
    json_object(j, "best");
    json_raw(j, "source", json_member_text(line, "source"));
    json_raw(j, "grid", json_member_text(line, "grid"));
    json_float(j, "accuracy", s->best.accuracy);
    json_end(j);
}

bool penta_batch_status(const char *results, penta_buffer *json, penta_error *err)
{
    struct status s = {0};
    struct shard_files files = {0};
    penta_buffer text = {0};
    struct writer out = {0};
    struct json j = {.out = &out};
    uint64_t done = 0, lines = 0;
    *err = (penta_error){0};
    bool ok = job_read(results, &text, err);
    penta_bytes job = {text.data, text.size};
    ok = ok && shard_files_find(results, job_shards(job), &files, err);
    char *waiting = ok ? job_path(results, ".ahead", err) : NULL;
    json_object(&j, NULL);
    json_text(&j, "results", results);
    json_raw(&j, "verb", ok ? json_member_text(job, "verb") : (penta_bytes){0});
    /* Merged results have all lines. Before the merge, the lines of the shards count. */
    bool merged = ok && !access(results, F_OK) && access(waiting, F_OK);
    if (ok && (merged || !files.count)) ok = status_file(&s, results, &lines, err);
    struct status unused = {0};
    if (ok && files.count)
        ok = status_shards(merged ? &unused : &s, &j, results, &files, &done, err);
    status_write(&s, &j);
    json_bool(&j, "merged", merged && files.count);
    json_bool(&j, "complete", merged);
    json_end(&j);
    free(waiting);
    writer_free(&s.best.line);
    writer_free(&unused.best.line);
    shard_files_free(&files);
    penta_buffer_free(&text);
    return writer_give(&out, ok, json, err);
}
