/* One case of a document while it runs, the same for the vectors of all formats. A case has failed
 * at its first difference; what comes after is not reported. */
#pragma once
#include "base/writer.h"
#include "conform/conform.h"

struct trial {
    struct conform *c;
    const char *name;
    char where[96]; /* "the device, step 4": said after what differs; may be empty */
    bool judged;    /* a verdict was given */
};

/* Called by the member "name" of the case, or "file", if it has one. */
struct trial trial_begin(struct conform *c, const struct json_object *item);
void trial_where(struct trial *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void trial_end(struct trial *t); /* passes the case unless it has a verdict */

/* All of these return false when the case has failed, so that a caller fails in one line. */
bool trial_fail(struct trial *t, const char *expected, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The vector itself is wrong: that fails, too. */
bool trial_malformed(struct trial *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
bool trial_skip(struct trial *t, const char *why);
bool trial_uint(struct trial *t, const char *what, uint64_t expected, uint64_t got);
bool trial_word(struct trial *t, const char *what, uint64_t expected, uint64_t got);
bool trial_text(struct trial *t, const char *what, const char *expected, const char *got);
bool trial_bytes(struct trial *t, const char *what, penta_bytes expected, penta_bytes got);
/* The bytes against a member in hex. */
bool trial_hex(struct trial *t, const char *what, const struct json_object *expected,
               penta_bytes got);
/* The member of an object as a number, which it must be. */
bool trial_member(struct trial *t, const struct json_object *object, const char *key,
                  uint64_t *out);
/* Every key of the object must be one of these; ends with NULL. */
bool trial_keys(struct trial *t, const struct json_object *object, const char *const *known);

/* Every item of the list as a case; one without a name is called "kind 3". */
void trial_each(struct conform *c, const struct json_object *list, const char *kind,
                trial_case *run);

/* A penta_report that keeps the first error; user is a struct first_error. */
struct first_error {
    penta_error error; /* code 0: none */
};
void first_error_keep(void *user, const penta_error *finding);

/* A file that the document names, from the document's folder. */
char *conform_path_beside(const struct conform *c, const char *name); /* to be freed; or NULL */
bool conform_beside(const struct conform *c, const char *name, penta_buffer *out, penta_error *err);
