/* Writes a file as one page for a browser. It has facts, the field tree beside the bytes, the
 * listing with arrows, calls, sizes, findings, and, where they are given, coverage and a
 * profile. The page is one HTML file that needs no network and runs no script but its own.
 *
 * The rules of penta.h hold: buffers are appended to, a failed call leaves them as they were,
 * `err` is cleared first. */
#pragma once
#include "penta/profile.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct penta_report_input {
    const penta_module *module;   /* the module; of a damaged one the readable part is shown */
    const penta_profile *profile; /* the profile of a run of this module, or NULL */
    /* `folded` has call paths as penta_profile_folded writes them, which are used instead of
     * those of `profile`. */
    penta_bytes folded;
    const char *title; /* the title of the page; NULL: the name of the format */
    /* Everything is shown; otherwise of long parts only the beginning, and the page says so. */
    bool all;
} penta_report_input;

/* Appends the page to `out`. Returns false when memory ran out, the profile is of another
 * program, or `folded` has other lines. */
PENTA_API bool penta_report_html(const penta_report_input *input, penta_buffer *out,
                                 penta_error *err);

#ifdef __cplusplus
}
#endif
