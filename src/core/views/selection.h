/* Declares the parts of a file that a selector selects, one by one, and the bytes of the file
 * that they have. */
#pragma once
#include "core/views/selector.h"
#include "penta/views.h"

/* Reports the selected parts in the order of the walk. Fails when memory ran out, and when nothing is selected. */
bool selection_walk(const penta_module *module, const struct selector *selector,
                    penta_select_report *report, void *user, size_t *parts, penta_error *err);

/* The selected ranges of a file, in ascending order and with gaps between them. */
struct selection {
    struct selection_range {
        uint64_t from, to; /* `to` is after the last byte */
    } * ranges;
    size_t count, capacity;
};
/* Finds the stored bytes of the selected parts. The caller frees the selection in any case. */
bool selection_read(struct selection *s, const penta_module *module, const char *selector,
                    penta_error *err);
/* Tells whether any byte of the range is selected. */
bool selection_holds(const struct selection *s, uint64_t from, uint64_t size);
void selection_free(struct selection *s);
