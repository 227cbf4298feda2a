/* Finds the structural difference of two describe trees. Members are compared by name, items of lists (and members
 * that share a name) after they are aligned. */
#pragma once
#include "core/views/views.h"

/* Reports the differences and returns how many there are, or SIZE_MAX when memory ran out. */
size_t diff_modules(const penta_module *a, const penta_module *b, penta_difference_report *report,
                    void *user);
