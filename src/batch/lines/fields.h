/* Which members of a result its line has: "verdict,findings,document.info.title". */
#pragma once
#include "base/json/json_write.h"

enum { FIELDS_MAX = 64 };
struct fields {
    char *text; /* owned; the names point into it */
    const char *names[FIELDS_MAX];
    size_t count; /* 0: everything */
};
/* NULL: everything. Fails with BASE_OPTION_VALUE. */
bool fields_parse(const char *list, struct fields *out, penta_error *err);
void fields_free(struct fields *f);
/* Writes these members of an object into the open one; a part of the document is called by its
 * path. */
void fields_write(const struct fields *f, struct json *j, penta_bytes object);
/* The exit code in an object or a line; 0 when there is none. */
uint32_t fields_exit(penta_bytes object);
