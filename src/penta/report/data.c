/* Collects what a report knows of a file: facts, sizes, and what a profile or samples measured. */
#include "penta/report/data.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/bytes.h"
#include "base/codec/base64.h"
#include "base/codec/checksum.h"
#include "base/sanitize.h"
#include "core/driver.h"
#include "crypto/hash.h"
#include "penta/analysis/profile_struct.h"
#include "penta/report/report.h"

void report_left_out(struct report *r, const char *format, ...)
{
    char text[200];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    writer_text(&r->left_out, text);
    writer_char(&r->left_out, 0);
}

static void report_list_left_out(struct report *r)
{
    penta_bytes rest = writer_view(&r->left_out);
    json_list(r->json, "leftOut");
    while (rest.size) {
        size_t n = strlen((const char *)rest.data);
        json_string(r->json, NULL, bytes_slice(rest, 0, n));
        rest = bytes_slice(rest, n + 1, rest.size);
    }
    json_end(r->json);
}

static void data_overview(struct report *r, const char *title)
{
    const penta_module *module = r->in->module;
    const penta_error *damage = penta_module_damage(module);
    uint8_t digest[HASH_BYTES];
    char sum[12];
    penta_buffer info = {0};
    struct writer safe = {0};
    writer_safe_text(&safe, title);
    json_string(r->json, "title", writer_view(&safe));
    r->json->out->failed |= safe.failed;
    writer_free(&safe);
    json_text(r->json, "format", penta_module_format(module));
    json_text(r->json, "formatTitle", penta_format_title(penta_module_format(module)));
    json_text(r->json, "version", penta_version());
    json_uint(r->json, "size", module->file.size);
    hash_sha256(module->file, digest);
    json_hex(r->json, "sha256", (penta_bytes){digest, sizeof digest});
    snprintf(sum, sizeof sum, "%08x", checksum_crc32(module->file));
    json_text(r->json, "crc32", sum);
    if (damage) json_text(r->json, "damage", damage->message);
    if (penta_info_json(module, &info, r->err))
        json_raw(r->json, "info", (penta_bytes){info.data, info.size});
    penta_buffer_free(&info);
}

static void data_bytes(struct report *r)
{
    penta_bytes file = r->in->module->file;
    penta_bytes shown = r->in->all ? file : bytes_slice(file, 0, REPORT_BYTES);
    struct writer text = {0};
    base64_write(&text, shown);
    json_string(r->json, "bytes", writer_view(&text));
    r->json->out->failed |= text.failed;
    writer_free(&text);
    if (shown.size < file.size)
        report_left_out(r, "bytes after the first %zu of %zu", shown.size, file.size);
}

static void size_row(void *user, const penta_size *size)
{
    struct report *r = user;
    json_list(r->json, NULL);
    json_text(r->json, NULL, penta_size_name(size->kind));
    json_text(r->json, NULL, size->name);
    json_uint(r->json, NULL, size->bytes);
    json_end(r->json);
}

static void put_sizes(struct report *r)
{
    json_list(r->json, "sizes");
    penta_sizes(r->in->module, size_row, r, r->err);
    json_end(r->json);
}

/* Checks folded lines. Each is a path and a count, such as "outer;inner 12". */
static bool check_folded(penta_bytes text, penta_error *err)
{
    for (size_t at = 0; at < text.size;) {
        penta_bytes rest = bytes_slice(text, at, text.size);
        const uint8_t *end = memchr(rest.data, '\n', rest.size);
        size_t n = end ? (size_t)(end - rest.data) : rest.size, digits = 0;
        while (digits < n && rest.data[n - 1 - digits] >= '0' && rest.data[n - 1 - digits] <= '9')
            digits++;
        if (n && (!digits || digits > 19 || digits + 1 >= n || rest.data[n - 1 - digits] != ' '))
            return error_at(err, BASE_RANGE, at, "not a line of a call path and a count");
        at += n + 1;
    }
    return true;
}

static bool data_folded(struct report *r)
{
    penta_bytes given = r->in->folded;
    penta_buffer own = {0};
    if (given.size && !check_folded(given, r->err)) return false;
    if (!given.size && r->in->profile && r->in->profile->path_count) {
        if (!penta_profile_folded(r->in->profile, NULL, 0, &own, r->err)) return false;
        given = (penta_bytes){own.data, own.size};
    }
    if (given.size) json_string(r->json, "folded", given);
    penta_buffer_free(&own);
    return true;
}

/* Writes what a profile or samples measured. Returns false with an error. */
static bool put_measured(struct report *r)
{
    const penta_profile *p = r->in->profile;
    penta_buffer coverage = {0};
    if (p && p->structure.map->module != r->in->module)
        return error_at(r->err, BASE_STATE, 0, "the profile is of another program");
    if (p && !p->sampled) { /* Samples do not tell what never ran. */
        penta_option json = {"json", "1"};
        if (penta_profile_coverage(p, &json, 1, &coverage, r->err))
            json_raw(r->json, "coverage", (penta_bytes){coverage.data, coverage.size});
        penta_buffer_free(&coverage);
    }
    return !r->err->code && data_folded(r);
}

bool report_data(const penta_report_input *input, const char *title, struct writer *out,
                 penta_error *err)
{
    struct json j = {.out = out};
    struct report r = {.in = input, .json = &j, .err = err};
    json_object(&j, NULL);
    data_overview(&r, title);
    data_bytes(&r);
    if (!err->code) report_tree(&r);
    if (!err->code) report_findings(&r);
    if (!err->code) put_sizes(&r);
    if (!err->code) report_code(&r);
    bool ok = !err->code && put_measured(&r);
    report_list_left_out(&r);
    json_finish(&j);
    ok = ok && writer_ok(&r.left_out, err);
    writer_free(&r.left_out);
    return ok;
}
