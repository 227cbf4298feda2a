/* Writes results of tests as JUnit XML. No text of a file can end an element or contain what XML
 * does not allow: control characters and invalid UTF-8 are escaped as they are for a terminal. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/bytes.h"
#include "base/sanitize.h"
#include "penta/results.h"
#include "penta/results/document.h"

enum { CASE_VERDICTS = PENTA_CASE_SKIPPED + 1 };

struct junit_suite {
    char *name;
    size_t cases, counts[CASE_VERDICTS];
    struct writer out; /* the cases of the suite as XML */
};

struct penta_junit {
    struct junit_suite *suites;
    size_t count, capacity;
    penta_error lost; /* the error when memory ran out, or code 0 */
};

penta_junit *penta_junit_new(void) { return calloc(1, sizeof(penta_junit)); }

void penta_junit_free(penta_junit *j)
{
    for (size_t i = 0; j && i < j->count; i++) {
        free(j->suites[i].name);
        writer_free(&j->suites[i].out);
    }
    if (j) free(j->suites);
    free(j);
}

/* Recognises U+FFFE and U+FFFF, which are UTF-8, but no characters of XML. */
static bool xml_no_character(penta_bytes at)
{
    return at.size >= 3 && at.data[0] == 0xef && at.data[1] == 0xbf && at.data[2] >= 0xbe;
}

static void xml_text(struct writer *out, penta_bytes text)
{
    for (size_t i = 0; i < text.size; i++) {
        uint8_t c = text.data[i];
        if (xml_no_character(bytes_slice(text, i, 3))) {
            writer_print(out, "\\u{ff%02x}", text.data[i + 2] + 0x40);
            i += 2;
            continue;
        }
        if (c == '<' || c == '>' || c == '&' || c == '"' || c == '\'')
            writer_print(out, "&#%u;", c);
        else
            writer_char(out, (char)c);
    }
}

static void xml_attribute(struct writer *out, const char *name, const char *value)
{
    struct writer safe = {0};
    writer_safe_text(&safe, value);
    writer_print(out, " %s=\"", name);
    xml_text(out, writer_view(&safe));
    writer_char(out, '"');
    out->failed |= safe.failed;
    writer_free(&safe);
}

static void xml_lines(struct writer *out, const char *text)
{
    struct writer safe = {0};
    writer_safe_lines(&safe, bytes_of(text), NULL);
    xml_text(out, writer_view(&safe));
    out->failed |= safe.failed;
    writer_free(&safe);
}

static struct junit_suite *junit_suite(penta_junit *j, const char *name)
{
    if (j->count && !strcmp(j->suites[j->count - 1].name, name)) return &j->suites[j->count - 1];
    char *copy = strdup(name);
    if (!copy || !ARRAY_GROW(j->suites, j->capacity, j->count, &j->lost)) {
        free(copy);
        error_at(&j->lost, BASE_MEMORY, 0, "no memory for the cases");
        return NULL;
    }
    j->suites[j->count] = (struct junit_suite){.name = copy};
    return &j->suites[j->count++];
}

void penta_junit_add(penta_junit *j, const penta_case *one)
{
    static const char *const elements[CASE_VERDICTS] = {NULL, "failure", "error", "skipped"};
    struct junit_suite *suite = junit_suite(j, one->suite);
    const char *element = elements[one->verdict];
    if (!suite) return;
    struct writer *out = &suite->out;
    suite->cases++;
    suite->counts[one->verdict]++;
    writer_text(out, "    <testcase");
    xml_attribute(out, "classname", one->suite);
    xml_attribute(out, "name", one->name);
    if (!element) {
        writer_text(out, "/>\n");
        return;
    }
    writer_print(out, ">\n      <%s", element);
    if (one->message) xml_attribute(out, "message", one->message);
    if (one->text && *one->text) {
        writer_char(out, '>');
        xml_lines(out, one->text);
        writer_print(out, "</%s>\n", element);
    } else {
        writer_text(out, "/>\n");
    }
    writer_text(out, "    </testcase>\n");
}

struct junit_diagnostics {
    struct writer text;
    char first[sizeof(((penta_error *)0)->message)];
};

static void junit_diagnostic(void *user, const char *file, const struct json_object *diagnostic)
{
    struct junit_diagnostics *d = user;
    const char *code = json_as_text(json_get(diagnostic, "code"));
    penta_error found;
    (void)file;
    diagnostic_error(diagnostic, &found);
    if (!*d->first) memcpy(d->first, found.message, sizeof d->first);
    writer_print(&d->text, "%s[%s]: %s", penta_severity_name(found.severity), code ? code : "",
                 found.message);
    writer_print(&d->text, found.decoded ? " at decoded+0x%" PRIx64 : " at 0x%" PRIx64,
                 found.offset);
    if (*found.note) writer_print(&d->text, " (%s)", found.note);
    writer_char(&d->text, '\n');
}

static void junit_line_add(penta_junit *j, const char *suite, const struct json_object *line,
                           int64_t exit, const char *verdict)
{
    struct junit_diagnostics found = {.first = ""};
    struct writer message = {0}, name = {0};
    const char *grid = json_as_text(json_get(line, "grid"));
    writer_text(&name, json_as_text(json_get(line, "source")));
    if (grid) writer_print(&name, " %s", grid);
    document_diagnostics(line, junit_diagnostic, &found);
    if (verdict)
        writer_text(&message, verdict);
    else
        writer_print(&message, "exit %" PRId64, exit);
    if (*found.first) writer_print(&message, ": %s", found.first);
    writer_char(&name, 0);
    writer_char(&message, 0);
    writer_char(&found.text, 0);
    if (name.failed || message.failed || found.text.failed)
        error_at(&j->lost, BASE_MEMORY, 0, "no memory for the cases");
    else
        penta_junit_add(j, &(penta_case){.suite = suite,
                                         .name = (const char *)name.out.data,
                                         .verdict = exit == 0   ? PENTA_CASE_PASSED
                                                    : exit == 1 ? PENTA_CASE_FAILED
                                                                : PENTA_CASE_ERROR,
                                         .message = (const char *)message.out.data,
                                         .text = (const char *)found.text.out.data});
    writer_free(&name);
    writer_free(&message);
    writer_free(&found.text);
}

bool penta_junit_line(penta_junit *j, const char *suite, penta_bytes json, penta_error *err)
{
    *err = (penta_error){0};
    struct json_doc *document = json_parse(json, err);
    if (!document) return false;
    const struct json_object *line = json_root(document);
    const char *source = json_as_text(json_get(line, "source"));
    int64_t exit = 0;
    bool ok = source && json_as_sint(json_get(line, "exit"), &exit);
    if (ok)
        junit_line_add(j, suite, line, exit, json_as_text(json_get(line, "verdict")));
    else
        error_at(err, BASE_SYNTAX, 0, "this is no line of results: it has no source or exit code");
    json_doc_free(document);
    return ok;
}

static void junit_counts(struct writer *out, size_t cases, const size_t counts[CASE_VERDICTS])
{
    writer_print(out, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\">\n", cases,
                 counts[PENTA_CASE_FAILED], counts[PENTA_CASE_ERROR], counts[PENTA_CASE_SKIPPED]);
}

bool penta_junit_write(const penta_junit *j, penta_buffer *out, penta_error *err)
{
    *err = j->lost;
    struct writer w = {0};
    size_t cases = 0, counts[CASE_VERDICTS] = {0};
    for (size_t i = 0; i < j->count; i++) {
        cases += j->suites[i].cases;
        for (size_t k = 0; k < CASE_VERDICTS; k++) counts[k] += j->suites[i].counts[k];
    }
    writer_text(&w, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"penta\"");
    junit_counts(&w, cases, counts);
    for (size_t i = 0; i < j->count; i++) {
        const struct junit_suite *suite = &j->suites[i];
        writer_text(&w, "  <testsuite");
        xml_attribute(&w, "name", suite->name);
        junit_counts(&w, suite->cases, suite->counts);
        writer_append(&w, &suite->out);
        writer_text(&w, "  </testsuite>\n");
    }
    writer_text(&w, "</testsuites>\n");
    return writer_give(&w, !err->code, out, err);
}
