/* The structural difference of two describe trees: members by name, items of lists (and members
 * that share a name) by alignment. */
#pragma once
#include "core/views/views.h"

struct difference {
    char sign; /* '~' changed, '-' only in a, '+' only in b */
    const char *path;
    const penta_field *a, *b; /* leaves; NULL where there is none, or a whole node */
    uint64_t offset_a, offset_b;
};
typedef void diff_report(void *user, const struct difference *difference);

/* How many differences there are; SIZE_MAX when memory ran out. */
size_t diff_modules(const penta_module *a, const penta_module *b, diff_report *report, void *user);
