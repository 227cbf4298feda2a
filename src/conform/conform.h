/* Runs test vectors on the machines. Every form of JSON vectors is a struct conform_form and is
 * recognised by its content; forms.def is the only list of them. */
#pragma once
#include "base/json/json_read.h"

enum conform_verdict { CONFORM_PASS, CONFORM_FAIL, CONFORM_SKIP };

struct conform_result {
    const char *path, *name; /* file and case */
    enum conform_verdict verdict;
    const char *expected, *got; /* FAIL; SKIP has the reason in got */
};

struct conform {
    const char *engine; /* to run on; NULL: the default of each format */
    const char *exec;   /* command of another implementation to test, or NULL */
    const char *device; /* path of the device executable, or NULL */
    void (*result)(void *user, const struct conform_result *result);
    void *user;
    const char *path; /* the file being run */
    const char *skip; /* why all cases of this document are skipped, or NULL */
    size_t passed, failed, skipped;
};

struct conform_form {
    const char *name;
    bool (*matches)(const struct json_object *root);
    /* Runs every case of the document. NULL: a list of files that are cases themselves. */
    void (*run)(struct conform *c, const struct json_object *root);
};
bool conform_engine_known(const char *name); /* whether some format has such an engine */

/* Runs one document; false when no form matches it (then nothing is counted). */
bool conform_document(struct conform *c, const char *path, const struct json_object *root);

void conform_pass(struct conform *c, const char *name);
void conform_fail(struct conform *c, const char *name, const char *expected, const char *format,
                  ...) __attribute__((format(printf, 4, 5)));
void conform_skip(struct conform *c, const char *name, const char *why);
