/* Declares the list of members that a line of results has, such as
 * "verdict,findings,document.info.title". */
#pragma once
#include "base/json/json_write.h"

enum { FIELDS_MAX = 64 };
struct fields {
    char *text; /* a copy of the list, into which the names point */
    const char *names[FIELDS_MAX];
    size_t count; /* 0 means all members */
};
/* Reads a list; NULL means all members. Fails with BASE_OPTION_VALUE. */
bool fields_parse(const char *list, struct fields *out, penta_error *err);
void fields_free(struct fields *f);
/* Writes these members of an object into the open JSON object. A part of the document is named
 * by its path. */
void fields_write(const struct fields *f, struct json *j, penta_bytes object);
/* Returns the exit code in an object or a line, or 0 when it has none. */
uint32_t fields_exit(penta_bytes object);
