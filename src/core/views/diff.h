/* Finds the structural difference of two describe trees. Members are compared by name, items of lists (and members
 * that share a name) after they are aligned. */
#pragma once
#include "core/views/views.h"

/* Reports the differences and returns how many there are. With a selector only those in what it selects, in either
 * file. Fails when memory ran out, and when nothing is selected. */
size_t diff_modules(const penta_module *a, const penta_module *b, const struct selector *selector,
                    penta_difference_report *report, void *user, penta_error *err);
