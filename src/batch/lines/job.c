/* Computes the digest of a job. The digest covers everything besides the sources on which the
 * lines depend: the words of options, and the bytes of every file that a value names. A file
 * name may also stand after '=', ':' or ',' in a value, as in the option map. */
#include "batch/lines/job.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/array.h"
#include "base/bytes.h"
#include "base/file/file.h"
#include "base/json/json_write.h"
#include "base/number.h"
#include "batch/lines/record.h"
#include "crypto/hash.h"

bool grid_parse(const char *text, struct grid *out, penta_error *err)
{
    *out = (struct grid){.combinations = 1};
    if (!text) return true;
    char *rest = out->text = strdup(text);
    if (!out->text) return error_at(err, BASE_MEMORY, 0, "no memory for a grid");
    for (char *name; (name = strsep(&rest, ","));) {
        char *equals = strchr(name, '=');
        uint64_t values = 1;
        for (char *p = equals; p && *p; p++) values += *p == ':';
        if (!equals || equals == name || !equals[1] || strstr(equals, "::") || equals[1] == ':' ||
            equals[strlen(equals) - 1] == ':' || out->count == GRID_MAX ||
            out->combinations > 1000000 / values) {
            error_at(err, BASE_OPTION_VALUE, 0, "option 'grid': '%.40s' is not NAME=VALUE:VALUE",
                     name);
            error_note(err,
                       "at most %d options and a million combinations, as in rate=1:5,epochs=2:4",
                       GRID_MAX);
            grid_free(out);
            return false;
        }
        *equals = 0;
        out->names[out->count] = name;
        out->values[out->count++] = equals + 1;
        out->combinations *= values;
    }
    return true;
}

void grid_free(struct grid *g)
{
    free(g->text);
    *g = (struct grid){.combinations = 1};
}

static uint64_t grid_count(const char *values)
{
    uint64_t count = 1;
    for (; *values; values++) count += *values == ':';
    return count;
}

bool grid_text(const struct grid *g, uint64_t combination, struct writer *out, penta_error *err)
{
    uint64_t left = g->combinations;
    out->out.size = 0;
    for (size_t i = 0; i < g->count; i++) {
        left /= grid_count(g->values[i]);
        uint64_t which = combination / left;
        combination %= left;
        const char *value = g->values[i];
        while (which--) value = strchr(value, ':') + 1;
        writer_print(out, "%s%s=%.*s", i ? "," : "", g->names[i], (int)strcspn(value, ":"), value);
    }
    writer_char(out, 0);
    return writer_ok(out, err);
}

static void job_word(struct writer *out, const char *word)
{
    writer_uint(out, word ? strlen(word) + 1 : 0, 8);
    if (word) writer_text(out, word);
}

/* Writes the digests of the files that a word of the options names. */
static bool job_files(struct writer *out, const char *word, penta_error *err)
{
    for (const char *p = word; *p; p++) {
        struct stat st;
        penta_buffer file = {0};
        uint8_t hash[HASH_BYTES];
        if (p != word && !strchr("=:,", p[-1])) continue;
        if (stat(p, &st) || !S_ISREG(st.st_mode)) continue;
        if (!file_read(p, UINT64_C(1) << 33, &file, err)) return false;
        hash_sha256((penta_bytes){file.data, file.size}, hash);
        writer_bytes(out, hash, sizeof hash);
        penta_buffer_free(&file);
    }
    return true;
}

bool job_digest(const penta_batch_job *job, uint8_t out[BATCH_DIGEST], penta_error *err)
{
    struct writer text = {0};
    job_word(&text, PENTA_VERSION_TEXT);
    job_word(&text, job->verb);
    job_word(&text, job->fields);
    job_word(&text, job->grid);
    job_word(&text, job->files_to);
    bool ok = true;
    for (size_t i = 0; ok && i < job->argument_count; i++) {
        job_word(&text, job->arguments[i]);
        ok = job_files(&text, job->arguments[i], err);
    }
    ok = ok && writer_ok(&text, err);
    if (ok) hash_sha256(writer_view(&text), out);
    writer_free(&text);
    return ok;
}

char *job_path(const char *results, const char *end, penta_error *err)
{
    char *path = malloc(strlen(results) + strlen(end) + 1);
    if (!path) {
        error_at(err, BASE_MEMORY, 0, "no memory for a path");
        return NULL;
    }
    return strcat(strcpy(path, results), end);
}

static void job_write(const penta_batch_job *job, const uint8_t digest[BATCH_DIGEST],
                      uint64_t planned, struct writer *out)
{
    struct json j = {.out = out};
    json_object(&j, NULL);
    json_text(&j, "schema", "penta.batch-job/1");
    json_text(&j, "version", PENTA_VERSION_TEXT);
    json_text(&j, "verb", job->verb);
    json_list(&j, "arguments");
    for (size_t i = 0; i < job->argument_count; i++) json_text(&j, NULL, job->arguments[i]);
    json_end(&j);
    if (job->fields) json_text(&j, "fields", job->fields);
    if (job->grid) json_text(&j, "grid", job->grid);
    if (job->files_to) json_text(&j, "files_to", job->files_to);
    json_hex(&j, "digest", (penta_bytes){digest, BATCH_DIGEST});
    if (planned) json_uint(&j, "shards", planned);
    json_finish(&j);
}

bool job_read(const char *results, penta_buffer *text, penta_error *err)
{
    char *path = job_path(results, ".job", err);
    bool ok = path && file_read(path, 1 << 24, text, err);
    if (!ok && err->code == BASE_IO) error_note(err, "it is written beside the results of a batch");
    free(path);
    return ok;
}

uint64_t job_shards(penta_bytes text)
{
    uint64_t shards = 0;
    penta_bytes number = json_member_text(text, "shards");
    return number.data && number_parse_bytes(number, &shards) ? shards : 0;
}

static bool job_same(const char *results, penta_bytes text, const uint8_t digest[BATCH_DIGEST],
                     penta_error *err)
{
    char hex[2 * BATCH_DIGEST + 3];
    penta_bytes have = json_member_text(text, "digest"), verb = json_member_text(text, "verb");
    hex[0] = '"';
    for (size_t i = 0; i < BATCH_DIGEST; i++) snprintf(hex + 1 + 2 * i, 3, "%02x", digest[i]);
    strcat(hex, "\"");
    if (bytes_equal(have, bytes_of(hex))) return true;
    error_at(err, BASE_OPTION_VALUE, 0,
             "'%.60s' has results of %.*s with other options, files or version", results,
             BYTES_ARG(verb, 20));
    return error_note(err, "choose another name, or remove it and %.60s.job", results);
}

bool job_settle(const penta_batch_job *job, const uint8_t digest[BATCH_DIGEST], uint64_t planned,
                penta_error *err)
{
    struct stat st;
    penta_buffer text = {0};
    char *path = job_path(job->results, ".job", err);
    if (!path) return false;
    bool ok;
    if (!stat(path, &st)) {
        ok = file_read(path, 1 << 24, &text, err) &&
             job_same(job->results, (penta_bytes){text.data, text.size}, digest, err);
        /* A run with a plan may follow runs without one, but then with another number of shards. */
        if (!ok || !planned || job_shards((penta_bytes){text.data, text.size}) == planned)
            goto done;
    } else if (!stat(job->results, &st) && (!S_ISREG(st.st_mode) || st.st_size)) {
        ok = error_at(err, BASE_IO, 0, "'%.60s' exists already and is not a result of a batch",
                      job->results);
        error_note(err, "choose another name");
        goto done;
    }
    struct writer out = {0};
    job_write(job, digest, planned, &out);
    ok = writer_ok(&out, err) && file_write(path, writer_view(&out), err);
    writer_free(&out);
done:
    penta_buffer_free(&text);
    free(path);
    return ok;
}
