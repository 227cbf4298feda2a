/* Many files by many processes: a verb of the tool over files, folders, lists and archives, with
 * one line of JSON for each source, in the order of the sources. The lines are the same for any
 * number of processes. A file that crashes, hangs or wants too much memory is a line that says
 * so. What was finished before a stop, a crash or a kill is not done again.
 *
 * This is libpenta_batch, a library beside libpenta, since it starts processes: the tool as
 * workers, and the commands of a scheduler. docs/batch.md describes the files that it writes.
 * The rules of penta.h about errors, buffers and NULL hold. */
#pragma once
#include "penta/penta.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- jobs ---- */

typedef struct penta_batch_totals {
    uint64_t done;       /* sources with a line, those of earlier runs included */
    uint64_t reused;     /* of them, lines of earlier runs */
    uint64_t listed;     /* sources found so far, of all shards */
    bool complete;       /* the list has been read to its end */
    double part;         /* of the list that has been read, 0 to 1, by its files and folders */
    int exit_max;        /* the highest exit code of a line */
    uint64_t exits[256]; /* lines with each exit code */
} penta_batch_totals;

typedef struct penta_batch_job {  /* zeros are the defaults */
    const char *program;          /* path of the tool; NULL: PENTA_TOOL, else the installed one */
    const char *verb;             /* "validate": a command that has a document for one file */
    const char *const *arguments; /* options of the verb, as on the command line */
    size_t argument_count;
    const char *const *sources; /* files, folders, archives */
    size_t source_count;
    const char *
        from; /* a file with more names, on lines or ended by NUL bytes; "123<TAB>name" has a size */
    const char *results;  /* the file that gets the lines; files beside it begin with its name */
    const char *shard;    /* "K/N", "auto" or "auto/N": only this part, into a file of its own */
    const char *fields;   /* members of a line, "verdict,document.info"; NULL: all */
    const char *files_to; /* folder for what the verb itself writes, or NULL */
    const char *cache;    /* folder with results of earlier runs, shared by hosts, or NULL */
    const char *grid;     /* a line for each combination: "rate=1:5,epochs=2:4"; or NULL */
    unsigned jobs;        /* worker processes; 0: one for each processor */
    double file_timeout;  /* seconds for one source; 0: no limit */
    uint64_t file_memory; /* bytes that a worker may take beyond those at its start; 0: no limit */
    uint64_t planned;     /* for penta_batch_plan: of how many shards; 0: none */
    /* About ten times a second, and at the end; NULL: nobody wants to know. False ends the run
     * cleanly. */
    bool (*tick)(void *user, const penta_batch_totals *so_far);
    void *user;
} penta_batch_job;

/* Does the job; results may be those of a run before that was stopped. False: the job could not
 * be begun or a file could not be written; what is in the files stays and is used by the next
 * run. When tick has ended it, the call succeeds and totals->complete is false or done is less
 * than listed. totals may not be NULL. */
PENTA_API bool penta_batch_run(const penta_batch_job *job, penta_batch_totals *totals,
                               penta_error *err);

/* Worker processes that stay, for callers with a schedule of their own. A pool belongs to one
 * thread at a time. `results`, `from`, `shard`, `sources` and `tick` of the job are not used. */
typedef struct penta_batch_pool penta_batch_pool;
PENTA_API penta_batch_pool *penta_batch_pool_new(const penta_batch_job *job, penta_error *err);
PENTA_API void penta_batch_pool_free(penta_batch_pool *pool); /* NULL is allowed */
/* Appends the lines of these sources; the first one has the number `first`. */
PENTA_API bool penta_batch_pool_lines(penta_batch_pool *pool, const char *const *sources,
                                      size_t count, uint64_t first, penta_buffer *lines,
                                      penta_error *err);
/* Appends the names of all sources, each ended by a NUL byte, as penta_batch_pool_lines takes them: folders
 * are walked, a member of an archive is "ARCHIVE!MEMBER". */
PENTA_API bool penta_batch_names(const char *const *sources, size_t count, penta_buffer *names,
                                 penta_error *err);

/* ---- the other side: a worker ---- */

typedef struct penta_batch_input {
    const char *name;
    const penta_bytes *bytes; /* NULL: the file of this name is to be read */
    const penta_error *error; /* nothing can be read, for this reason; or NULL */
    const char *grid;         /* options for this line, "rate=1,epochs=2", or NULL */
} penta_batch_input;

typedef struct penta_batch_answer {
    int exit;
    const char *verdict, *format; /* format may be NULL */
    bool memory;                  /* memory ran out: the worker starts afresh */
    penta_bytes findings;         /* a JSON list of codes */
    penta_bytes document;         /* one JSON object; both are borrowed until the next call */
} penta_batch_answer;

typedef struct penta_batch_worker {
    void (*run)(void *user, const penta_batch_input *input, penta_batch_answer *answer);
    /* Appends what the source names and the result depends on, for its digest; or NULL. */
    void (*also)(void *user, const penta_batch_input *input, penta_buffer *more);
    void *user;
} penta_batch_worker;

/* Serves the process that started this one until that ends; returns the exit code. The options
 * are those that the library gave to the worker on its command line. For the tool alone. */
PENTA_API int penta_batch_serve(const penta_batch_worker *worker, const penta_option *options,
                                size_t count);

/* ---- shards ---- */

/* Writes the plan of a job of `planned` shards beside its results: the list of its sources with their sizes, and the job. */
PENTA_API bool penta_batch_plan(const penta_batch_job *job, penta_error *err);
typedef struct penta_batch_cluster { /* zeros are the defaults */
    uint64_t nodes; /* at most so many shards at a time; 0: as the scheduler likes */
    bool dry_run;   /* write the scripts only */
} penta_batch_cluster;
/* Plans the job, writes a script for an array of its shards and one for the merge after it, and gives both to Slurm. Appends a
 * JSON object with the names of the scripts and the numbers of the jobs. */
PENTA_API bool penta_batch_submit(const penta_batch_job *job, const penta_batch_cluster *how,
                                  penta_buffer *json, penta_error *err);
/* Puts the files of the shards together into the results. False: some are missing or do not fit; err names them. */
PENTA_API bool penta_batch_merge(const char *results, penta_batch_totals *totals, penta_error *err);
/* Appends a JSON object: verb, shards with their state, lines so far, verdicts. */
PENTA_API bool penta_batch_status(const char *results, penta_buffer *json, penta_error *err);
/* Appends a page for a browser about all results. */
PENTA_API bool penta_batch_report(const char *results, penta_buffer *html, penta_error *err);

#ifdef __cplusplus
}
#endif
