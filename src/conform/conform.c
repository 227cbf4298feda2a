#include "conform/conform.h"
#include <stdarg.h>
#include <stdio.h>

#define FORM(name) extern const struct conform_form conform_##name;
#include "conform/forms.def"

const struct conform_form *const conform_forms[] = {
#define FORM(name) &conform_##name,
#include "conform/forms.def"
    NULL};

bool conform_document(struct conform *c, const char *path, const struct json_object *root)
{
    for (size_t i = 0; conform_forms[i]; i++) {
        if (!conform_forms[i]->matches(root)) continue;
        c->path = path;
        if (conform_forms[i]->run) conform_forms[i]->run(c, root);
        return true;
    }
    return false;
}

static void deliver(struct conform *c, struct conform_result result)
{
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
