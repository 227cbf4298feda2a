/* Runs the vectors of a file or folder: finds the form of each document, runs its cases, and
 * counts and reports the results. */
#include "conform/conform.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/json/json_write.h"
#include "conform/trial.h"

#define FORM(name, format) extern const struct conform_form conform_##name;
#include "conform/forms.def"

static const struct row {
    const struct conform_form *form;
    const char *format; /* the format whose engine runs the cases, or NULL */
} rows[] = {
#define FORM(name, format) {&conform_##name, format},
#include "conform/forms.def"
    {NULL, NULL}};

static bool has_engine(const char *format, const char *name)
{
    const char *engine;
    for (size_t i = 0; (engine = penta_engine_name(format, i)); i++)
        if (!strcmp(engine, name)) return true;
    return false;
}

bool penta_conform_engine_known(const char *name)
{
    for (size_t i = 0; penta_format_name(i); i++)
        if (has_engine(penta_format_name(i), name)) return true;
    return false;
}

const char *penta_conform_verdict_name(penta_conform_verdict verdict)
{
    static const char *const names[] = {"pass", "fail", "skip", "ignored", "unreadable"};
    return verdict < sizeof names / sizeof *names ? names[verdict] : "";
}

static void conform_deliver(struct conform *c, penta_conform_result result)
{
    penta_conform_counts *n = c->counts;
    if (c->skip) /* The result does not count, because the caller asked for another engine. */
        result = (penta_conform_result){
            .name = result.name, .verdict = PENTA_CONFORM_SKIP, .got = c->skip};
    size_t *counts[] = {&n->passed, &n->failed, &n->skipped, &n->others, &n->unreadable};
    ++*counts[result.verdict];
    result.path = c->path;
    if (c->options->result) c->options->result(c->options->user, &result);
}

static bool conform_matches(const struct conform_form *form, const struct json_object *root)
{
    if (!form->list) return form->matches(root);
    const struct json_object *list = json_get(root, form->list), *first = json_item(list, 0);
    enum { MEMBERS = sizeof form->members / sizeof *form->members };
    for (size_t i = 0; i < MEMBERS && form->members[i]; i++)
        if (!json_has(first, form->members[i])) return false;
    return json_is_list(list) && !(form->without && json_has(first, form->without));
}

static bool run_document(struct conform *c, const struct json_object *root)
{
    for (const struct row *r = rows; r->form; r++) {
        if (!conform_matches(r->form, root)) continue;
        char why[80] = "";
        if (c->engine && r->format && !has_engine(r->format, c->engine))
            snprintf(why, sizeof why, "%s has no engine '%.40s'", r->format, c->engine);
        c->skip = *why ? why : NULL;
        if (r->form->list)
            trial_each(c, json_get(root, r->form->list), r->form->kind, r->form->one);
        else if (r->form->run)
            r->form->run(c, root);
        c->skip = NULL;
        return true;
    }
    return false;
}

void penta_conform_document(const penta_conform_options *options, const char *path,
                            penta_bytes document, penta_conform_counts *counts)
{
    static const penta_conform_options defaults;
    penta_error err = {0};
    if (!options) options = &defaults;
    struct conform c = {.engine = options->engine,
                        .exec = options->exec,
                        .device = options->device,
                        .options = options,
                        .counts = counts,
                        .path = path};
    struct json_doc *doc = json_parse(document, &err);
    if (!doc) { /* A vector that cannot be read fails, because it proves nothing. */
        counts->documents++;
        conform_fail(&c, "-", "a JSON document", "%s at byte %llu", err.message,
                     (unsigned long long)err.offset);
    } else if (run_document(&c, json_root(doc))) {
        counts->documents++;
    } else {
        conform_deliver(&c, (penta_conform_result){.verdict = PENTA_CONFORM_OTHER});
    }
    json_doc_free(doc);
}

void conform_pass(struct conform *c, const char *name)
{
    conform_deliver(c, (penta_conform_result){.name = name, .verdict = PENTA_CONFORM_PASS});
}

void conform_fail(struct conform *c, const char *name, const char *expected, const char *format,
                  ...)
{
    char got[400];
    va_list args;
    va_start(args, format);
    vsnprintf(got, sizeof got, format, args);
    va_end(args);
    conform_deliver(
        c, (penta_conform_result){
               .name = name, .verdict = PENTA_CONFORM_FAIL, .expected = expected, .got = got});
}

void conform_skip(struct conform *c, const char *name, const char *why)
{
    conform_deliver(
        c, (penta_conform_result){.name = name, .verdict = PENTA_CONFORM_SKIP, .got = why});
}
