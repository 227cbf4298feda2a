/* Runs test vectors: JSON documents with programs or files and the results that they must have,
 * for every format. The forms are told apart by their content. docs/conform-protocol.md says how
 * to judge another implementation with them.
 *
 * This is libpenta_conform, a library beside libpenta, since it starts processes: the device of
 * kblob and the other implementation. Calls may be made from several threads, each with counts
 * of its own. The rules of penta.h about errors, buffers and NULL hold. */
#pragma once
#include "penta/penta.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum penta_conform_verdict {
    PENTA_CONFORM_PASS,
    PENTA_CONFORM_FAIL,
    PENTA_CONFORM_SKIP,
    /* These verdicts are about a file and not about a case. */
    PENTA_CONFORM_OTHER,      /* The file is JSON, but not a test vector of a known form. */
    PENTA_CONFORM_UNREADABLE, /* The file cannot be read; `error` says why. */
} penta_conform_verdict;
/* Returns a name such as "pass". */
PENTA_API const char *penta_conform_verdict_name(penta_conform_verdict verdict);

typedef struct penta_conform_result { /* A result is borrowed during the callback. */
    /* `path` is the file and `name` the case; a name of NULL means the file itself. */
    const char *path, *name;
    penta_conform_verdict verdict;
    const char *expected, *got; /* both for FAIL; for SKIP `got` is the reason; else NULL */
    const penta_error *error;   /* the error for UNREADABLE, else NULL */
} penta_conform_result;

typedef struct penta_conform_options { /* Members that are zero have their defaults. */
    /* `engine` is the engine on which cases run; NULL stands for the default of each format. */
    const char *engine;
    const char *exec; /* the command of another implementation to judge, or NULL */
    /* `device` is the path of the device executable; NULL stands for the installed one. */
    const char *device;
    uint64_t input_max; /* the size of the largest file that is read; 0: 1 GiB */
    /* `result` gets the result of every case, unless it is NULL. */
    void (*result)(void *user, const penta_conform_result *result);
    void *user;
} penta_conform_options;

/* The counts must be zeros before their first use; every call adds to them. */
typedef struct penta_conform_counts {
    size_t passed, failed, skipped; /* how many cases passed, failed and were skipped */
    size_t documents;               /* how many documents had a known form */
    size_t others, unreadable;      /* how many files had the verdicts OTHER and UNREADABLE */
} penta_conform_counts;

/* Tells whether some format has an engine of this name. Cases of formats without it are skipped. */
PENTA_API bool penta_conform_engine_known(const char *name);

/* Runs the cases of one document. `path` is its name in results, and says where files that it
 * names are. Bytes that are no JSON count as a failed case "-". `options` may be NULL. */
PENTA_API void penta_conform_document(const penta_conform_options *options, const char *path,
                                      penta_bytes document, penta_conform_counts *counts);
/* Runs the cases of a file, or of all files *.json in a folder and its folders, in the order of
 * their names. */
PENTA_API void penta_conform_path(const penta_conform_options *options, const char *path,
                                  penta_conform_counts *counts);
/* Runs the cases of a file or folder and appends a JSON list of objects with file, case,
 * verdict, expected, got and error, as far as there are such. Returns false when memory ran out,
 * and then `out` is unchanged. */
PENTA_API bool penta_conform_json(const penta_conform_options *options, const char *path,
                                  penta_buffer *out, penta_conform_counts *counts,
                                  penta_error *err);

#ifdef __cplusplus
}
#endif
