/* Reads diagnostics back from JSON. They are in the list `diagnostics` of the document or of the
 * files in it. A line of penta batch has the document as its member `document`. */
#include "penta/results/document.h"
#include <stdio.h>
#include <string.h>

/* The levels are a line, its document, the files of that, and the documents of a list. */
enum { DOCUMENTS_NESTED = 4 };

struct reading {
    diagnostic_fn *fn;
    void *user;
};

static void document_read(const struct reading *r, const struct json_object *document,
                          const char *file, unsigned depth)
{
    const struct json_object *inner = json_get(document, "document"),
                             *found = json_get(document, "diagnostics"),
                             *files = json_get(document, "files");
    const char *named = json_as_text(json_get(document, "file"));
    if (!named) named = json_as_text(json_get(document, "source"));
    if (named) file = named;
    for (size_t i = 0; i < json_length(found); i++) {
        const char *own = json_as_text(json_get(json_item(found, i), "file"));
        r->fn(r->user, own ? own : file, json_item(found, i));
    }
    if (!depth) return;
    if (json_is_object(inner)) document_read(r, inner, file, depth - 1);
    for (size_t i = 0; i < json_length(files); i++)
        document_read(r, json_item(files, i), file, depth - 1);
}

void document_diagnostics(const struct json_object *root, diagnostic_fn *fn, void *user)
{
    struct reading r = {fn, user};
    document_read(&r, root, NULL, DOCUMENTS_NESTED);
}

static bool code_of_rules(const char *format, const char *text, uint32_t *code)
{
    const penta_rule *rule;
    char one[24];
    for (size_t i = 0; (rule = penta_rule_at(format, i)); i++) {
        penta_code_text(rule->code, one);
        if (strcmp(one, text)) continue;
        *code = rule->code;
        return true;
    }
    return false;
}

void diagnostic_error(const struct json_object *diagnostic, penta_error *err)
{
    const char *code = json_as_text(json_get(diagnostic, "code")),
               *severity = json_as_text(json_get(diagnostic, "severity")), *format,
               *message = json_as_text(json_get(diagnostic, "message")),
               *note = json_as_text(json_get(diagnostic, "note"));
    *err = (penta_error){.decoded = json_as_bool(json_get(diagnostic, "decoded"))};
    if (code && !code_of_rules(NULL, code, &err->code))
        for (size_t i = 0; (format = penta_format_name(i)); i++)
            if (code_of_rules(format, code, &err->code)) break;
    json_as_uint(json_get(diagnostic, "offset"), &err->offset);
    for (int i = PENTA_ERROR; i <= PENTA_INFO; i++)
        if (severity && !strcmp(severity, penta_severity_name((penta_severity)i)))
            err->severity = (penta_severity)i;
    snprintf(err->message, sizeof err->message, "%s", message ? message : "");
    snprintf(err->note, sizeof err->note, "%s", note ? note : "");
}
