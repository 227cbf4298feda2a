/* Writes the findings about a file into a report, each with the field that it is in. */
#include <stdlib.h>
#include "base/array.h"
#include "penta/report/report.h"
#include "penta/views.h"

static void findings_finding(struct report *r, const penta_error *e, const penta_place *place,
                             const char *paths)
{
    char code[24];
    const penta_rule *rule = penta_rule_find(e->code);
    penta_code_text(e->code, code);
    json_object(r->json, NULL);
    json_text(r->json, "severity", penta_severity_name(e->severity));
    json_text(r->json, "code", code);
    json_text(r->json, "message", e->message);
    if (e->note[0]) json_text(r->json, "note", e->note);
    if (rule) json_text(r->json, "explanation", rule->explanation);
    json_uint(r->json, "offset", e->offset);
    if (e->decoded) json_bool(r->json, "decoded", true);
    if (place->found) {
        json_text(r->json, "path", paths + place->path);
        json_uint(r->json, "from", place->leaf_offset);
        json_uint(r->json, "bytes", place->leaf_size);
    }
    json_end(r->json);
}

struct found {
    penta_error *items;
    size_t count, capacity;
    penta_error *err;
};

static void findings_take(void *user, const penta_error *e)
{
    struct found *f = user;
    if (e->code == BASE_MEMORY && !f->err->code)
        *f->err = *e; /* The checks themselves failed, so this is no finding about the file. */
    if (ARRAY_GROW(f->items, f->capacity, f->count, f->err)) f->items[f->count++] = *e;
}

static void findings_write(struct report *r, const struct found *f)
{
    size_t count = f->count;
    penta_buffer paths = {0};
    if (!r->in->all && count > REPORT_FINDINGS) {
        report_left_out(r, "%zu of %zu findings", count - REPORT_FINDINGS, count);
        count = REPORT_FINDINGS;
    }
    penta_place *places = calloc(count + 1, sizeof *places);
    if (!places)
        error_at(r->err, BASE_MEMORY, 0, "no memory for the places of %zu findings", count);
    else if (!count || penta_places(r->in->module, f->items, count, places, &paths, r->err))
        for (size_t i = 0; i < count; i++)
            findings_finding(r, &f->items[i], &places[i], (const char *)paths.data);
    free(places);
    penta_buffer_free(&paths);
}

void report_findings(struct report *r)
{
    struct found f = {.err = r->err};
    penta_validate(r->in->module, findings_take, &f);
    json_list(r->json, "findings");
    if (!r->err->code) findings_write(r, &f);
    json_end(r->json);
    free(f.items);
}
