/* The structural difference of two describe trees: members by name, items of lists (and members
 * that share a name) by alignment. */
#pragma once
#include "core/views/views.h"

/* How many differences there are; SIZE_MAX when memory ran out. */
size_t diff_modules(const penta_module *a, const penta_module *b, penta_difference_report *report,
                    void *user);
