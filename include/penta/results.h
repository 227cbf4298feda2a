/* What was found, for other programs: findings as SARIF 2.1.0, which code review and editors read, and
 * results of tests as JUnit XML, which CI systems read. The same additions give the same bytes.
 *
 * The rules of penta.h hold: buffers are appended to, a failed call leaves them as they were, `err` is
 * cleared first. Additions report nothing: when memory runs out, _write fails. */
#pragma once
#include "penta/views.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- SARIF ---- */

typedef struct penta_sarif penta_sarif;

PENTA_API penta_sarif *penta_sarif_new(void);        /* NULL: no memory */
PENTA_API void penta_sarif_free(penta_sarif *sarif); /* NULL is fine */

typedef struct penta_sarif_place { /* zeros: not known */
    const char *file;              /* NULL: the finding is about no file */
    const char *path;              /* its place in the tree of the module */
    const penta_place *where;      /* of penta_places: the field that it is about */
    const penta_bytes *source;     /* the text that its offset counts in: it gets line and column */
} penta_sarif_place;

/* Adds one finding. What is about no input (a wrong option, a file that cannot be read) becomes a
 * notification, all else a result with its rule. place may be NULL. */
PENTA_API void penta_sarif_add(penta_sarif *sarif, const penta_error *finding,
                               const penta_sarif_place *place);
/* Adds what was found in one file. With a module each finding has the path of its place, with a source
 * its line and column; either may be NULL. */
PENTA_API bool penta_sarif_findings(penta_sarif *sarif, const char *file,
                                    const penta_findings *findings, const penta_module *module,
                                    const penta_bytes *source, penta_error *err);
/* Adds the diagnostics of a document that a command of the tool printed with --json, or of a line of
 * penta batch. False: it is no JSON. */
PENTA_API bool penta_sarif_document(penta_sarif *sarif, penta_bytes json, penta_error *err);
/* The document, with the texts of the rules that it uses. */
PENTA_API bool penta_sarif_write(const penta_sarif *sarif, penta_buffer *out, penta_error *err);

/* ---- JUnit XML ---- */

typedef enum penta_case_verdict {
    PENTA_CASE_PASSED,
    PENTA_CASE_FAILED, /* it ran, and the answer is no */
    PENTA_CASE_ERROR,  /* it could not be tried */
    PENTA_CASE_SKIPPED,
} penta_case_verdict;

typedef struct penta_case {
    const char *suite, *name;
    penta_case_verdict verdict;
    const char *message; /* one line on what went wrong, or why it was skipped; or NULL */
    const char *text;    /* more lines, or NULL */
} penta_case;

typedef struct penta_junit penta_junit;

PENTA_API penta_junit *penta_junit_new(void);        /* NULL: no memory */
PENTA_API void penta_junit_free(penta_junit *junit); /* NULL is fine */
/* Adds a case. Cases of one suite follow each other. */
PENTA_API void penta_junit_add(penta_junit *junit, const penta_case *one);
/* Adds a case for a line of penta batch, named by its source: exit code 0 is passed, 1 failed, any other an
 * error, with the diagnostics of its document. False: it is no such line. */
PENTA_API bool penta_junit_line(penta_junit *junit, const char *suite, penta_bytes json,
                                penta_error *err);
PENTA_API bool penta_junit_write(const penta_junit *junit, penta_buffer *out, penta_error *err);

#ifdef __cplusplus
}
#endif
