/* Declares the structural difference of two describe trees. Members are compared by name. Items
 * of lists, and members that share a name, are first aligned. */
#pragma once
#include "core/views/views.h"

/* Reports the differences and returns how many there are. With a selector it reports only those
 * in the selected parts, in either file. Fails when memory ran out, and when nothing is
 * selected. */
size_t diff_modules(const penta_module *a, const penta_module *b, const struct selector *selector,
                    penta_difference_report *report, void *user, penta_error *err);
