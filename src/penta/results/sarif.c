/* Writes findings as SARIF 2.1.0. Results are written as they come. The rules that they name by
 * a number follow in the order of their first use, so that the same findings give the same
 * bytes. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/bytes.h"
#include "base/json/json_write.h"
#include "base/utf8.h"
#include "penta/results.h"
#include "penta/results/document.h"
#include "penta/views.h"

static const char sarif_schema[] =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

struct penta_sarif {
    struct writer results, notifications; /* JSON objects, with commas between them */
    uint32_t *rules;                      /* the codes of rules, in the order of their first use */
    size_t rule_count, rule_capacity;
    bool failed_to_run;
    penta_error lost; /* the error when memory ran out, or code 0 */
};

/* A place as it is written in the document. */
struct sarif_region {
    penta_sarif_place place;
    uint64_t line, column; /* counted from 1; 0 when not known */
};

penta_sarif *penta_sarif_new(void) { return calloc(1, sizeof(penta_sarif)); }

void penta_sarif_free(penta_sarif *s)
{
    if (!s) return;
    writer_free(&s->results);
    writer_free(&s->notifications);
    free(s->rules);
    free(s);
}

static void sarif_message(struct json *j, const char *key, const char *text)
{
    json_object(j, key);
    json_text(j, "text", text);
    json_end(j);
}

/* Writes a file name as a reference. All but plain characters become %XX, and no first part
 * looks like a scheme. */
static void sarif_uri(struct json *j, const char *file)
{
    struct writer uri = {0};
    size_t first = strcspn(file, "/");
    writer_text(&uri, *file == '/' ? "file://" : "");
    if (memchr(file, ':', first)) writer_text(&uri, "./");
    for (const char *p = file; *p; p++) {
        uint8_t c = (uint8_t)*p;
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     strchr("/-_.~:@!$&'()*+,;=", c);
        writer_print(&uri, plain ? "%c" : "%%%02X", c);
    }
    j->out->failed |= uri.failed;
    json_string(j, "uri", writer_view(&uri));
    writer_free(&uri);
}

static void sarif_artifact(struct json *j, const char *file)
{
    json_object(j, "artifactLocation");
    if (strcmp(file, "-"))
        sarif_uri(j, file);
    else
        sarif_message(j, "description", "standard input");
    json_end(j);
}

static void sarif_region(struct json *j, const penta_error *finding, const struct sarif_region *r)
{
    bool bytes = !finding->decoded && (finding->offset || r->place.path) &&
                 finding->offset <= INT64_C(1) << 53; /* A larger number is not exact in JSON. */
    const penta_place *w = r->place.where;
    if (!r->line && !bytes) return;
    json_object(j, "region");
    if (r->line) {
        json_uint(j, "startLine", r->line);
        if (r->column) json_uint(j, "startColumn", r->column);
    } else {
        json_uint(j, "byteOffset", finding->offset);
        if (w && w->found && finding->offset - w->leaf_offset < w->leaf_size)
            json_uint(j, "byteLength", w->leaf_offset + w->leaf_size - finding->offset);
    }
    json_end(j);
}

static void sarif_locations(struct json *j, const penta_error *finding,
                            const struct sarif_region *r)
{
    if (!r->place.file) return;
    json_list(j, "locations");
    json_object(j, NULL);
    json_object(j, "physicalLocation");
    sarif_artifact(j, r->place.file);
    sarif_region(j, finding, r);
    json_end(j);
    if (r->place.path) {
        json_list(j, "logicalLocations");
        json_object(j, NULL);
        json_text(j, "fullyQualifiedName", r->place.path);
        json_end(j);
        json_end(j);
    }
    json_end(j);
    json_end(j);
}

static void sarif_text(struct json *j, const penta_error *finding)
{
    struct writer text = {0};
    writer_text(&text, *finding->message ? finding->message : "no message");
    if (*finding->note) {
        writer_text(&text, "\nnote: ");
        writer_text(&text, finding->note);
    }
    j->out->failed |= text.failed;
    json_object(j, "message");
    json_string(j, "text", writer_view(&text));
    json_end(j);
    writer_free(&text);
}

static const char *sarif_level(penta_severity severity)
{
    static const char *const levels[] = {"error", "warning", "note"};
    return levels[severity];
}

static size_t sarif_rule(penta_sarif *s, uint32_t code)
{
    for (size_t i = 0; i < s->rule_count; i++)
        if (s->rules[i] == code) return i;
    if (ARRAY_GROW(s->rules, s->rule_capacity, s->rule_count, &s->lost))
        s->rules[s->rule_count++] = code;
    return s->rule_count - 1;
}

/* Tells whether an error is about the work and not about an input. It then says that the run
 * itself did not succeed. */
static bool sarif_is_notification(const penta_rule *rule, const penta_sarif_place *place)
{
    if (!rule || !place->file) return true;
    return rule->kind == PENTA_CLASS_USAGE || rule->kind == PENTA_CLASS_IO ||
           rule->kind == PENTA_CLASS_BUG;
}

static void sarif_add_at(penta_sarif *s, const penta_error *finding, const struct sarif_region *r)
{
    const penta_rule *rule = penta_rule_find(finding->code);
    bool notification = sarif_is_notification(rule, &r->place);
    struct writer *out = notification ? &s->notifications : &s->results;
    struct json j = {.out = out};
    char code[24];
    penta_code_text(finding->code, code);
    if (out->out.size) writer_char(out, ',');
    json_object(&j, NULL);
    if (rule && notification) json_object(&j, "associatedRule");
    if (rule) {
        json_text(&j, notification ? "id" : "ruleId", code);
        json_uint(&j, notification ? "index" : "ruleIndex", sarif_rule(s, finding->code));
    }
    if (rule && notification) json_end(&j);
    json_text(&j, "level", sarif_level(finding->severity));
    sarif_text(&j, finding);
    sarif_locations(&j, finding, r);
    if (finding->decoded) {
        json_object(&j, "properties");
        json_uint(&j, "decodedOffset", finding->offset);
        json_end(&j);
    }
    json_end(&j);
    s->failed_to_run |= notification && finding->severity == PENTA_ERROR;
}

/* Returns the column in characters. Characters that are no UTF-8 count by their bytes. */
static uint64_t sarif_column(penta_bytes line, uint64_t column)
{
    uint64_t characters = 1;
    penta_bytes before = bytes_slice(line, 0, (size_t)column - 1);
    for (size_t at = 0; at < before.size; characters++) {
        uint32_t point;
        size_t n = utf8_next(bytes_slice(before, at, SIZE_MAX), &point);
        at += n ? n : 1;
    }
    return characters;
}

void penta_sarif_add(penta_sarif *s, const penta_error *finding, const penta_sarif_place *place)
{
    struct sarif_region r = {.line = 0};
    if (place) r.place = *place;
    if (r.place.source && r.place.file) {
        penta_bytes line;
        penta_source_place(*r.place.source, finding->offset, &r.line, &r.column, &line);
        r.column = sarif_column(line, r.column);
    }
    sarif_add_at(s, finding, &r);
}

bool penta_sarif_findings(penta_sarif *s, const char *file, const penta_findings *findings,
                          const penta_module *module, const penta_bytes *source, penta_error *err)
{
    *err = (penta_error){0};
    size_t count = penta_findings_count(findings);
    penta_error *found = calloc(count + 1, sizeof *found);
    penta_place *places = calloc(count + 1, sizeof *places);
    penta_buffer paths = {0};
    bool ok = (found && places) || error_at(err, BASE_MEMORY, 0, "no memory for the findings");
    for (size_t i = 0; ok && i < count; i++) found[i] = *penta_findings_at(findings, i);
    ok = ok && (!module || penta_places(module, found, count, places, &paths, err));
    for (size_t i = 0; ok && i < count; i++) {
        penta_sarif_place place = {.file = file, .source = source};
        if (module && places[i].found) {
            place.path = (const char *)paths.data + places[i].path;
            place.where = &places[i];
        }
        penta_sarif_add(s, &found[i], &place);
    }
    penta_buffer_free(&paths);
    free(found);
    free(places);
    return ok;
}

static void sarif_diagnostic(void *user, const char *file, const struct json_object *diagnostic)
{
    struct sarif_region r = {.place = {.file = file}};
    penta_error finding;
    diagnostic_error(diagnostic, &finding);
    r.place.path = json_as_text(json_get(diagnostic, "path"));
    json_as_uint(json_get(diagnostic, "line"), &r.line);
    sarif_add_at(user, &finding, &r);
}

bool penta_sarif_document(penta_sarif *s, penta_bytes json, penta_error *err)
{
    *err = (penta_error){0};
    struct json_doc *document = json_parse(json, err);
    if (!document) return false;
    document_diagnostics(json_root(document), sarif_diagnostic, s);
    json_doc_free(document);
    return true;
}

static void sarif_rules(struct json *j, const penta_sarif *s)
{
    json_list(j, "rules");
    for (size_t i = 0; i < s->rule_count; i++) {
        const penta_rule *rule = penta_rule_find(s->rules[i]);
        char code[24];
        penta_code_text(rule->code, code);
        json_object(j, NULL);
        json_text(j, "id", code);
        json_text(j, "name", rule->name);
        sarif_message(j, "shortDescription", rule->summary);
        sarif_message(j, "fullDescription", rule->explanation);
        sarif_message(j, "help", rule->explanation);
        json_object(j, "defaultConfiguration");
        json_text(j, "level", sarif_level(rule->severity));
        json_end(j);
        json_end(j);
    }
    json_end(j);
}

static void sarif_list(struct json *j, const char *key, const struct writer *items)
{
    struct writer list = {0};
    writer_char(&list, '[');
    writer_append(&list, items);
    writer_char(&list, ']');
    j->out->failed |= list.failed;
    json_raw(j, key, writer_view(&list));
    writer_free(&list);
}

bool penta_sarif_write(const penta_sarif *s, penta_buffer *out, penta_error *err)
{
    *err = s->lost;
    struct writer w = {0};
    struct json j = {.out = &w};
    json_object(&j, NULL);
    json_text(&j, "$schema", sarif_schema);
    json_text(&j, "version", "2.1.0");
    json_list(&j, "runs");
    json_object(&j, NULL);
    json_object(&j, "tool");
    json_object(&j, "driver");
    json_text(&j, "name", "penta");
    json_text(&j, "semanticVersion", penta_version());
    sarif_rules(&j, s);
    json_end(&j);
    json_end(&j);
    json_list(&j, "invocations");
    json_object(&j, NULL);
    json_bool(&j, "executionSuccessful", !s->failed_to_run);
    if (s->notifications.out.size) sarif_list(&j, "toolExecutionNotifications", &s->notifications);
    json_end(&j);
    json_end(&j);
    json_text(&j, "columnKind", "unicodeCodePoints");
    sarif_list(&j, "results", &s->results);
    json_finish(&j);
    return writer_give(&w, !err->code, out, err);
}
