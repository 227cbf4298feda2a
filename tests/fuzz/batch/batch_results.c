/* Reads any bytes as a file of results, such as an incomplete file or somebody else's. No line
 * may be read beyond its end, what is found must be in the line, and status and report must
 * answer or fail. */
#include "fuzz.h"
#include <sys/stat.h>
#include <unistd.h>
#include "batch/lines/fields.h"
#include "batch/lines/record.h"
#include "penta/batch.h"

static bool batch_results_within(penta_bytes part, penta_bytes line)
{
    return !part.size || (part.data >= line.data && part.data + part.size <= line.data + line.size);
}

/* The line has a copy of its own, so that a sanitizer sees reads after its end. */
static void read_line(penta_bytes text)
{
    uint8_t *copy = malloc(text.size + !text.size);
    CHECK(copy);
    bytes_copy(copy, text);
    penta_bytes line = {copy, text.size}, item;
    struct record_head head;
    struct writer plain = {0}, out = {0};
    if (record_head_read(line, &head)) {
        CHECK(batch_results_within(head.source, line) && batch_results_within(head.key, line) &&
              batch_results_within(head.rest, line));
        CHECK(head.source.size >= 2 && head.key.size >= head.source.size);
        json_unquote(head.source, &plain);
        CHECK(plain.out.size <= head.source.size);
    }
    penta_bytes document = json_member_text(line, "document"),
                findings = json_member_text(line, "findings");
    CHECK(batch_results_within(document, line) && batch_results_within(findings, line));
    CHECK(batch_results_within(json_member_text(document, "info"), line));
    for (size_t at = 0, before = 0; json_list_next(findings, &at, &item); before = at)
        CHECK(at > before && batch_results_within(item, line));
    struct fields fields;
    penta_error err = {0};
    CHECK(fields_parse("verdict,document.info.uses,document", &fields, &err));
    struct json j = {.out = &out};
    json_object(&j, NULL);
    fields_write(&fields, &j, line);
    json_finish(&j);
    CHECK(fields_exit(line) < 256);
    fields_free(&fields);
    writer_free(&plain);
    writer_free(&out);
    free(copy);
}

static void write_file(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    CHECK(file && fwrite(data, 1, size, file) == size && !fclose(file));
}

void fuzz_one(const uint8_t *data, size_t size)
{
    static const char job[] =
        "{\"schema\":\"penta.batch-job/1\",\"verb\":\"info\",\"digest\":\"00\"}\n";
    char folder[64], path[80], other[96];
    penta_buffer status = {0}, page = {0};
    penta_batch_totals totals;
    penta_error err;
    for (size_t at = 0, end; at < size; at = end + 1) {
        const uint8_t *stop = memchr(data + at, '\n', size - at);
        end = stop ? (size_t)(stop - data) : size;
        read_line((penta_bytes){data + at, end - at});
    }
    snprintf(folder, sizeof folder, "/tmp/penta-fuzz-%d.d", (int)getpid());
    mkdir(folder, 0700);
    snprintf(path, sizeof path, "%s/r", folder);
    write_file(path, data, size);
    snprintf(other, sizeof other, "%s.job", path);
    write_file(other, job, sizeof job - 1);
    snprintf(other, sizeof other, "%s.shard-0-of-1", path);
    write_file(other, data, size);
    CHECK(penta_batch_status(path, &status, &err) || err.code);
    CHECK(penta_batch_report(path, &page, &err) || err.code);
    CHECK(penta_batch_merge(path, &totals, &err) || err.code);
    penta_buffer_free(&status);
    penta_buffer_free(&page);
    unlink(path);
    unlink(other);
    snprintf(other, sizeof other, "%s.job", path);
    unlink(other);
    snprintf(other, sizeof other, "%s.times", path);
    unlink(other);
    rmdir(folder);
}
