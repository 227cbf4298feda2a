/* Keeps the findings that a penta_report function gets, for callers that have no callback. */
#include <stdlib.h>
#include "base/array.h"
#include "base/json/json_write.h"
#include "penta/views.h"

struct penta_findings {
    penta_error *items;
    size_t count, capacity;
    penta_error lost; /* the reason why some findings are missing, or code 0 */
};

void penta_buffer_append(void *buffer, penta_bytes piece)
{
    penta_buffer *out = buffer;
    struct writer w = {.out = *out};
    writer_bytes(&w, piece.data, piece.size);
    *out = w.out;
}

penta_findings *penta_findings_new(void) { return calloc(1, sizeof(struct penta_findings)); }

void penta_findings_free(penta_findings *f)
{
    if (f) free(f->items);
    free(f);
}

void penta_findings_add(void *findings, const penta_error *finding)
{
    struct penta_findings *f = findings;
    if (ARRAY_GROW(f->items, f->capacity, f->count, &f->lost)) f->items[f->count++] = *finding;
}

size_t penta_findings_count(const penta_findings *f) { return f->count; }

const penta_error *penta_findings_at(const penta_findings *f, size_t i)
{
    return i < f->count ? &f->items[i] : NULL;
}

static void finding_json(struct json *j, const penta_error *e, const char *path)
{
    char code[24];
    penta_code_text(e->code, code);
    json_object(j, NULL);
    json_text(j, "severity", severity_text(e->severity));
    json_text(j, "code", code);
    json_text(j, "name", penta_code_name(e->code));
    json_uint(j, "offset", e->offset);
    if (e->decoded) json_bool(j, "decoded", true);
    if (path) json_text(j, "path", path);
    json_text(j, "message", e->message);
    if (e->note[0]) json_text(j, "note", e->note);
    json_end(j);
}

bool penta_findings_json(const penta_findings *f, const penta_module *module, penta_buffer *out,
                         penta_error *err)
{
    *err = f->lost;
    struct writer w = {0};
    struct json j = {.out = &w};
    penta_buffer paths = {0};
    penta_place *places = module ? calloc(f->count + 1, sizeof *places) : NULL;
    bool ok = !err->code &&
              (!module || places || error_at(err, BASE_MEMORY, 0, "no memory for the findings"));
    ok = ok && (!module || penta_places(module, f->items, f->count, places, &paths, err));
    json_list(&j, NULL);
    for (size_t i = 0; ok && i < f->count; i++)
        finding_json(&j, &f->items[i],
                     places && places[i].found ? (const char *)paths.data + places[i].path : NULL);
    json_finish(&j);
    penta_buffer_free(&paths);
    free(places);
    return writer_give(&w, ok, out, err);
}
