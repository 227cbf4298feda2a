/* What is wrong with the file, each finding with the field that it is in. */
#include <stdlib.h>
#include "penta/report/report.h"
#include "penta/views.h"

static void finding(struct report *r, const penta_error *e, const penta_place *place,
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

void report_findings(struct report *r)
{
    penta_findings *all = penta_findings_new();
    size_t count = 0;
    penta_place *places = NULL;
    penta_buffer paths = {0};
    if (all) {
        penta_validate(r->in->module, penta_findings_add, all);
        count = penta_findings_count(all);
        if (!r->in->all && count > REPORT_FINDINGS) {
            report_left_out(r, "%zu of %zu findings", count - REPORT_FINDINGS, count);
            count = REPORT_FINDINGS;
        }
        places = calloc(count + 1, sizeof *places);
    }
    json_list(r->json, "findings");
    if (!places)
        error_at(r->err, BASE_MEMORY, 0, "no memory for findings");
    else if (!count ||
             penta_places(r->in->module, penta_findings_at(all, 0), count, places, &paths, r->err))
        for (size_t i = 0; i < count; i++)
            finding(r, penta_findings_at(all, i), &places[i], (const char *)paths.data);
    json_end(r->json);
    free(places);
    penta_buffer_free(&paths);
    penta_findings_free(all);
}
