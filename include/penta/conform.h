/* Test vectors: JSON documents with programs or files and what must come of them, for every format.
 * The forms are told apart by their content; docs/conform-protocol.md is about judging another
 * implementation with them.
 *
 * This is libpenta_conform, a library beside libpenta, since it starts processes: the device of
 * kblob and the other implementation. Calls may be made from several threads, each with counts of
 * its own. The rules of penta.h about errors, buffers and NULL hold. */
#pragma once
#include "penta/penta.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum penta_conform_verdict {
    PENTA_CONFORM_PASS,
    PENTA_CONFORM_FAIL,
    PENTA_CONFORM_SKIP,
    /* Not of a case, but of a file: */
    PENTA_CONFORM_OTHER,      /* JSON, but not a test vector of a known form */
    PENTA_CONFORM_UNREADABLE, /* `error` says why */
} penta_conform_verdict;
PENTA_API const char *penta_conform_verdict_name(penta_conform_verdict verdict); /* "pass" */

typedef struct penta_conform_result { /* borrowed for the duration of the callback */
    const char *path, *name;          /* file and case; name NULL: the file itself */
    penta_conform_verdict verdict;
    const char *expected, *got; /* of FAIL; SKIP has the reason in got; else NULL */
    const penta_error *error;   /* of UNREADABLE, else NULL */
} penta_conform_result;

typedef struct penta_conform_options { /* zeros are the defaults */
    const char *engine;                /* to run on; NULL: the default of each format */
    const char *exec;                  /* command of another implementation to judge, or NULL */
    const char *device;                /* path of the device executable; NULL: the installed one */
    uint64_t input_max;                /* largest file that is read; 0: 1 GiB */
    void (*result)(void *user, const penta_conform_result *result); /* of every case; NULL: none */
    void *user;
} penta_conform_options;

typedef struct penta_conform_counts { /* starts from zeros; every call adds to it */
    size_t passed, failed, skipped;   /* cases */
    size_t documents;                 /* of a known form */
    size_t others, unreadable;        /* files with these verdicts */
} penta_conform_counts;

/* Whether some format has an engine of this name. Cases of formats without it are skipped. */
PENTA_API bool penta_conform_engine_known(const char *name);

/* Runs the cases of one document. path is its name in results, and where files that it names are
 * looked for. Bytes that are no JSON count as a failed case "-". options may be NULL. */
PENTA_API void penta_conform_document(const penta_conform_options *options, const char *path,
                                      penta_bytes document, penta_conform_counts *counts);
/* The same for a file, or for all files *.json in a folder and its folders, by name. */
PENTA_API void penta_conform_path(const penta_conform_options *options, const char *path,
                                  penta_conform_counts *counts);
/* The same without a callback: appends a JSON list of objects with file, case, verdict, expected,
 * got and error, where they are there. False: no memory, and then out is unchanged. */
PENTA_API bool penta_conform_json(const penta_conform_options *options, const char *path,
                                  penta_buffer *out, penta_conform_counts *counts,
                                  penta_error *err);

#ifdef __cplusplus
}
#endif
