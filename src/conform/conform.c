#include "conform/conform.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "core/driver.h"
#include "core/engine.h"

#define FORM(name, format) extern const struct conform_form conform_##name;
#include "conform/forms.def"

static const struct row {
    const struct conform_form *form;
    const char *format; /* whose engine runs the cases, or NULL */
} rows[] = {
#define FORM(name, format) {&conform_##name, format},
#include "conform/forms.def"
    {NULL, NULL}};

static bool has_engine(const struct driver *driver, const char *name)
{
    for (size_t i = 0; driver && driver->engines && driver->engines[i]; i++)
        if (!strcmp(driver->engines[i]->name, name)) return true;
    return false;
}

bool conform_engine_known(const char *name)
{
    for (size_t i = 0; drivers[i]; i++)
        if (has_engine(drivers[i], name)) return true;
    return false;
}

bool conform_document(struct conform *c, const char *path, const struct json_object *root)
{
    for (const struct row *r = rows; r->form; r++) {
        if (!r->form->matches(root)) continue;
        char why[80] = "";
        if (c->engine && r->format && !has_engine(driver_find(r->format), c->engine))
            snprintf(why, sizeof why, "%s has no engine '%.40s'", r->format, c->engine);
        c->path = path;
        c->skip = *why ? why : NULL;
        if (r->form->run) r->form->run(c, root);
        c->skip = NULL;
        return true;
    }
    return false;
}

static void deliver(struct conform *c, struct conform_result result)
{
    if (c->skip) /* the verdict does not count: it is of another engine than was asked for */
        result =
            (struct conform_result){.name = result.name, .verdict = CONFORM_SKIP, .got = c->skip};
    size_t *counts[] = {&c->passed, &c->failed, &c->skipped};
    ++*counts[result.verdict];
    result.path = c->path;
    if (c->result) c->result(c->user, &result);
}

void conform_pass(struct conform *c, const char *name)
{
    deliver(c, (struct conform_result){.name = name, .verdict = CONFORM_PASS});
}

void conform_fail(struct conform *c, const char *name, const char *expected, const char *format,
                  ...)
{
    char got[400];
    va_list args;
    va_start(args, format);
    vsnprintf(got, sizeof got, format, args);
    va_end(args);
    deliver(c, (struct conform_result){
                   .name = name, .verdict = CONFORM_FAIL, .expected = expected, .got = got});
}

void conform_skip(struct conform *c, const char *name, const char *why)
{
    deliver(c, (struct conform_result){.name = name, .verdict = CONFORM_SKIP, .got = why});
}
