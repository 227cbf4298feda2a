/* Turns the lines of a batch into findings and cases, for --sarif and --junit. They are read
 * from the file of results, one at a time, when it is complete. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/json/json_read.h"
#include "cli/batch/shards.h"

static bool lines_take(struct cli *c, const char *verb, penta_bytes line, penta_error *err)
{
    return (!c->sarif || penta_sarif_document(c->sarif, line, err)) &&
           (!c->junit || penta_junit_line(c->junit, verb, line, err));
}

void batch_outcomes(struct cli *c, const char *verb, const char *results)
{
    penta_error err = {0};
    char *line = NULL;
    size_t room = 0;
    if (!c->sarif && !c->junit) return;
    FILE *file = fopen(results, "rbe");
    for (ssize_t size; file && !err.code && (size = getline(&line, &room, file)) > 0;)
        lines_take(c, verb, (penta_bytes){(const uint8_t *)line, (size_t)size}, &err);
    if (!file || ferror(file)) error_at(&err, BASE_IO, 0, "cannot read: %s", strerror(errno));
    if (err.code) cli_error(c, results, &err);
    if (file) fclose(file);
    free(line);
}

void batch_outcomes_of(struct cli *c, const char *results)
{
    penta_buffer text = {0};
    penta_error err;
    struct json_doc *doc = NULL;
    if (!c->sarif && !c->junit) return;
    if (penta_batch_status(results, &text, &err))
        doc = json_parse((penta_bytes){text.data, text.size}, &err);
    const char *verb = doc ? json_as_text(json_get(json_root(doc), "verb")) : NULL;
    if (doc)
        batch_outcomes(c, verb ? verb : "batch", results);
    else
        cli_error(c, results, &err);
    json_doc_free(doc);
    penta_buffer_free(&text);
}
