/* A trial is one case of a document while it runs, with the same struct for the vectors of all
 * formats. A case fails at its first difference; later differences are not reported. */
#pragma once
#include "base/writer.h"
#include "conform/conform.h"

struct trial {
    struct conform *c;
    const char *name;
    /* This text comes after the name of a value that differs, for example "the device, step 4".
     * It may be empty. */
    char where[96];
    bool judged; /* true if the case has a verdict */
};

/* Begins a case. Its name is the member "name" or "file", if it has one. */
struct trial trial_begin(struct conform *c, const struct json_object *item);
void trial_where(struct trial *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void trial_end(struct trial *t); /* the case passes if it has no verdict yet */

/* These functions make the case fail or be skipped. They return false, so that the caller can
 * return their result. */
bool trial_fail(struct trial *t, const char *expected, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Makes the case fail because the vector itself is wrong. */
bool trial_malformed(struct trial *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
bool trial_skip(struct trial *t, const char *why);
bool trial_uint(struct trial *t, const char *what, uint64_t expected, uint64_t got);
bool trial_word(struct trial *t, const char *what, uint64_t expected, uint64_t got);
bool trial_text(struct trial *t, const char *what, const char *expected, const char *got);
bool trial_bytes(struct trial *t, const char *what, penta_bytes expected, penta_bytes got);
/* Compares bytes with a member that is written in hex. */
bool trial_hex(struct trial *t, const char *what, const struct json_object *expected,
               penta_bytes got);
/* Reads a member of an object. It must be a number. */
bool trial_member(struct trial *t, const struct json_object *object, const char *key,
                  uint64_t *out);
/* Checks that every key of the object is in the list `known`, which ends with NULL. */
bool trial_keys(struct trial *t, const struct json_object *object, const char *const *known);

/* Runs every item of the list as a case. A case without a name is called by its kind and number,
 * such as "kind 3". */
void trial_each(struct conform *c, const struct json_object *list, const char *kind,
                trial_case *run);

/* A penta_report function uses this struct as `user` and keeps the first error in it. */
struct first_error {
    penta_error error; /* its code is 0 if there was no error */
};
void first_error_keep(void *user, const penta_error *finding);

/* Returns the path of a file that the document names relative to its own folder. */
char *conform_path_beside(const struct conform *c,
                          const char *name); /* the caller frees the path; NULL if memory ran out */
bool conform_beside(const struct conform *c, const char *name, penta_buffer *out, penta_error *err);
