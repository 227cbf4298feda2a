/* What the three files of kernel blob conformance share. A case ends at its first difference. */
#pragma once
#include "gpu/host/emulator.h"
#include "conform/conform.h"

struct check {
    struct conform *conform;
    const char *name; /* of the case */
    char where[96];   /* "THREADS, step 4", for messages */
    bool failed;
};

/* With the name of the case, if it has one. */
struct check check_begin(struct conform *c, const struct json_object *item);
void check_where(struct check *k, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* All of these return false when the case has failed. */
bool check_fail(struct check *k, const char *expected, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool check_malformed(struct check *k, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
bool check_uint(struct check *k, const char *what, uint64_t expected, uint64_t got);
bool check_word(struct check *k, const char *what, uint64_t expected, uint64_t got);
bool check_text(struct check *k, const char *what, const char *expected, const char *got);
bool check_bytes(struct check *k, const char *what, penta_bytes expected, penta_bytes got);
bool check_status(struct check *k, gpu_status expected, gpu_status got);
/* Every key of the object must be one of these; ends with NULL. */
bool check_keys(struct check *k, const struct json_object *object, const char *const *known);
void check_end(struct check *k); /* delivers a pass when nothing failed */

/* True when root is a list with an object that has the key. */
bool list_with(const struct json_object *root, const char *key);
