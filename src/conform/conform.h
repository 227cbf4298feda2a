/* Declares the internal parts of penta/conform.h. Every form of JSON vectors is a struct
 * conform_form, and its documents are recognised by their content. forms.def is the only list of
 * forms. */
#pragma once
#include "base/json/json_read.h"
#include "penta/conform.h"

struct conform {
    const char *engine; /* these options are as in penta_conform_options */
    const char *exec;
    const char *device;
    const penta_conform_options *options;
    penta_conform_counts *counts;
    const char *path; /* path of the file that is being run */
    const char *skip; /* why all cases of this document are skipped, or NULL */
};

struct trial;
typedef void trial_case(struct trial *t, const struct json_object *item);

struct conform_form {
    bool (*matches)(const struct json_object *root);
    /* Runs every case of the document. NULL if the document only lists files that are cases
     * themselves. */
    void (*run)(struct conform *c, const struct json_object *root);
    /* If the root has a list of cases, these fields are set and the two functions above are not.
     * The form is recognised by members of the first case. A case without a name is called by
     * its kind and number, such as "kind 3". */
    const char *list, *kind;
    trial_case *one;
    /* These are members that the first case must have, and one that it must not have, or NULL. */
    const char *members[4], *without;
};
#define DOCUMENT_FORM(id, its_matches, its_run)                                                    \
    const struct conform_form conform_##id = {.matches = its_matches, .run = its_run};
#define LIST_FORM(id, its_list, its_kind, its_case, ...)                                           \
    const struct conform_form conform_##id = {                                                     \
        .list = its_list, .kind = its_kind, .one = its_case, .members = {__VA_ARGS__}};

void conform_pass(struct conform *c, const char *name);
void conform_fail(struct conform *c, const char *name, const char *expected, const char *format,
                  ...) __attribute__((format(printf, 4, 5)));
void conform_skip(struct conform *c, const char *name, const char *why);
