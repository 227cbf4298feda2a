/* A file as one page for a browser: facts, field tree beside bytes, listing with arrows, calls, sizes,
 * findings, and where there are such, coverage and profile. The page is one HTML file that needs no
 * network and runs no script but its own.
 *
 * The rules of penta.h hold: buffers are appended to, a failed call leaves them as they were, `err`
 * is cleared first. */
#pragma once
#include "penta/profile.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct penta_report_input {
    const penta_module *module; /* damaged ones, too: what can be read of them is shown */
    const penta_profile
        *profile;       /* of a run of it: what ran, and where it spent its time; or NULL */
    penta_bytes folded; /* lines of penta_profile_folded, instead of the profile's own */
    const char *title;  /* NULL: the name of the format */
    bool all;           /* else only the beginning of what is long, and the page says so */
} penta_report_input;

/* False: memory ran out, the profile is of another program, or `folded` is not such lines. */
PENTA_API bool penta_report_html(const penta_report_input *input, penta_buffer *out,
                                 penta_error *err);

#ifdef __cplusplus
}
#endif
