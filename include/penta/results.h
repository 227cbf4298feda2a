/* Writes results for other programs: findings as SARIF 2.1.0, which code review and editors
 * read, and results of tests as JUnit XML, which CI systems read. The same additions give the
 * same bytes.
 *
 * The rules of penta.h hold: buffers are appended to, a failed call leaves them as they were,
 * `err` is cleared first. Functions that add report no failure: when memory runs out, the
 * function that writes fails. */
#pragma once
#include "penta/views.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The declarations below are about SARIF. */

typedef struct penta_sarif penta_sarif;

PENTA_API penta_sarif *penta_sarif_new(void);        /* Returns NULL when memory ran out. */
PENTA_API void penta_sarif_free(penta_sarif *sarif); /* `sarif` may be NULL. */

typedef struct penta_sarif_place { /* Members that are zero are not known. */
    const char *file;              /* the name of the file; NULL: the finding is about no file */
    const char *path;              /* the path of its place in the tree of the module */
    const penta_place *where;      /* the field that it is about, from penta_places */
    /* `source` is the source text in which its offset counts; with it the finding gets line and
     * column. */
    const penta_bytes *source;
} penta_sarif_place;

/* Adds one finding. A finding about no input (a wrong option, a file that cannot be read) becomes a
 * notification, any other one a result with its rule. `place` may be NULL. */
PENTA_API void penta_sarif_add(penta_sarif *sarif, const penta_error *finding,
                               const penta_sarif_place *place);
/* Adds the findings in one file. With a module each finding has the path of its place, with a
 * source its line and column; `module` and `source` may be NULL. */
PENTA_API bool penta_sarif_findings(penta_sarif *sarif, const char *file,
                                    const penta_findings *findings, const penta_module *module,
                                    const penta_bytes *source, penta_error *err);
/* Adds the diagnostics of a document that a command of the tool printed with --json, or of a
 * line of penta batch. Returns false when the text is no JSON. */
PENTA_API bool penta_sarif_document(penta_sarif *sarif, penta_bytes json, penta_error *err);
/* Appends the document, with the texts of the rules that it uses. */
PENTA_API bool penta_sarif_write(const penta_sarif *sarif, penta_buffer *out, penta_error *err);

/* The declarations below are about JUnit XML. */

typedef enum penta_case_verdict {
    PENTA_CASE_PASSED,
    PENTA_CASE_FAILED, /* The case ran, and its result is wrong. */
    PENTA_CASE_ERROR,  /* The case could not be tried. */
    PENTA_CASE_SKIPPED,
} penta_case_verdict;

typedef struct penta_case {
    const char *suite, *name;
    penta_case_verdict verdict;
    const char
        *message;     /* one line that says what went wrong, or why the case was skipped; or NULL */
    const char *text; /* more lines for the report, or NULL */
} penta_case;

typedef struct penta_junit penta_junit;

PENTA_API penta_junit *penta_junit_new(void);        /* Returns NULL when memory ran out. */
PENTA_API void penta_junit_free(penta_junit *junit); /* `junit` may be NULL. */
/* Adds a case. Cases of one suite must be added one after the other. */
PENTA_API void penta_junit_add(penta_junit *junit, const penta_case *one);
/* Adds a case for a line of penta batch, named by its source: exit code 0 is passed, 1 failed,
 * any other an error, with the diagnostics of its document. Returns false when `json` is no such
 * line. */
PENTA_API bool penta_junit_line(penta_junit *junit, const char *suite, penta_bytes json,
                                penta_error *err);
PENTA_API bool penta_junit_write(const penta_junit *junit, penta_buffer *out, penta_error *err);

#ifdef __cplusplus
}
#endif
