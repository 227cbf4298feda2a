/* Does a verb of the tool for many files by many processes. The files come from names, folders,
 * lists and archives. Each source gets one line of JSON, in the order of the sources; the lines
 * are the same for any number of processes. A file that crashes, hangs or wants too much memory
 * gets a line that says so. Work that was finished before a stop, a crash or a kill is not done
 * again.
 *
 * This is libpenta_batch, a library beside libpenta, since it starts processes: the tool as
 * workers, and the commands of a scheduler. docs/batch.md describes the files that it writes.
 * The rules of penta.h about errors, buffers and NULL hold. */
#pragma once
#include "penta/penta.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The declarations below are about jobs. */

typedef struct penta_batch_totals {
    uint64_t done;   /* how many sources have a line, those of earlier runs included */
    uint64_t reused; /* how many of the lines are from earlier runs */
    uint64_t listed; /* how many sources were found so far, of all shards */
    bool complete;   /* The list of sources has been read to its end. */
    /* `part` says how much of the list has been read, from 0 to 1, by its files and folders. */
    double part;
    int exit_max;        /* the highest exit code of a line */
    uint64_t exits[256]; /* how many lines have each exit code */
} penta_batch_totals;

typedef struct penta_batch_job { /* Members that are zero have their defaults. */
    /* `program` is the path of the tool; NULL stands for that in PENTA_TOOL, else the installed
     * one. */
    const char *program;
    /* `verb` is a command that makes a document for one file, such as "validate". */
    const char *verb;
    const char *const *arguments; /* the options of the verb, as on the command line */
    size_t argument_count;
    const char *const *sources; /* the names of files, folders and archives */
    size_t source_count;
    const char *
        /* `from` is a file with more names, on lines or each ended by a NUL byte. "123<TAB>name"
         * gives a size, too. */
        from;
    /* `results` is the file that gets the lines; the names of files beside it begin with its
     * name. */
    const char *results;
    /* When `shard` is "K/N", "auto" or "auto/N", only this part of the job is done, into a file
     * of its own. */
    const char *shard;
    /* `fields` are the members that a line has, such as "verdict,document.info"; NULL stands for
     * all. */
    const char *fields;
    const char *files_to; /* the folder for files that the verb itself writes, or NULL */
    /* `cache` is a folder with results of earlier runs, which hosts may share, or NULL. */
    const char *cache;
    /* `grid` has values for options, as in "rate=1:5,epochs=2:4", and each combination gets a
     * line. It may be NULL. */
    const char *grid;
    unsigned jobs;       /* how many worker processes there are; 0: one for each processor */
    double file_timeout; /* how many seconds one source may take; 0: no limit */
    /* `file_memory` says how many bytes a worker may take beyond those at its start; 0 stands
     * for no limit. */
    uint64_t file_memory;
    uint64_t planned; /* how many shards penta_batch_plan plans; 0: none */
    /* Is called about ten times a second, and at the end; NULL: nothing is called. Returning
     * false ends the run cleanly. */
    bool (*tick)(void *user, const penta_batch_totals *so_far);
    void *user;
} penta_batch_job;

/* Does the job; `results` may have lines of an earlier run that was stopped. Returns false when
 * the job could not begin or a file could not be written; the files keep their lines, which the
 * next run uses. When `tick` has ended the run, the call succeeds, and totals->complete is false
 * or done is less than listed. `totals` may not be NULL. */
PENTA_API bool penta_batch_run(const penta_batch_job *job, penta_batch_totals *totals,
                               penta_error *err);

/* A penta_batch_pool has worker processes that stay, for callers with a schedule of their own. A
 * pool belongs to one thread at a time. `results`, `from`, `shard`, `sources` and `tick` of the
 * job are not used. */
typedef struct penta_batch_pool penta_batch_pool;
PENTA_API penta_batch_pool *penta_batch_pool_new(const penta_batch_job *job, penta_error *err);
PENTA_API void penta_batch_pool_free(penta_batch_pool *pool); /* `pool` may be NULL. */
/* Appends the lines of these sources; the first one has the number `first`. */
PENTA_API bool penta_batch_pool_lines(penta_batch_pool *pool, const char *const *sources,
                                      size_t count, uint64_t first, penta_buffer *lines,
                                      penta_error *err);
/* Appends the names of all sources, each ended by a NUL byte, as penta_batch_pool_lines takes
 * them. Folders are walked; a member of an archive is "ARCHIVE!MEMBER". */
PENTA_API bool penta_batch_names(const char *const *sources, size_t count, penta_buffer *names,
                                 penta_error *err);

/* The declarations below are for the process that works: the worker. */

typedef struct penta_batch_input {
    const char *name;
    const penta_bytes *bytes; /* the contents; NULL: the worker reads the file of this name */
    const penta_error *error; /* the reason why nothing can be read, or NULL */
    const char *grid;         /* options for this line, such as "rate=1,epochs=2", or NULL */
} penta_batch_input;

typedef struct penta_batch_answer {
    int exit;
    const char *verdict, *format; /* `format` may be NULL. */
    bool memory;                  /* Memory ran out, so the worker starts anew. */
    penta_bytes findings;         /* a JSON list of codes, borrowed until the next call */
    penta_bytes document;         /* one JSON object, borrowed until the next call */
} penta_batch_answer;

typedef struct penta_batch_worker {
    void (*run)(void *user, const penta_batch_input *input, penta_batch_answer *answer);
    /* Appends the contents of other files that the source names and on which its result depends;
     * the digest of the source includes them. The function may be NULL. */
    void (*also)(void *user, const penta_batch_input *input, penta_buffer *more);
    void *user;
} penta_batch_worker;

/* Serves the process that started this one until that ends, and returns the exit code. The
 * options are those that the library gave to the worker on its command line. Only the tool calls
 * this function. */
PENTA_API int penta_batch_serve(const penta_batch_worker *worker, const penta_option *options,
                                size_t count);

/* The declarations below are about shards. */

/* Writes the plan of a job of `planned` shards beside its results: the list of its sources with
 * their sizes, and the job. */
PENTA_API bool penta_batch_plan(const penta_batch_job *job, penta_error *err);
typedef struct penta_batch_cluster { /* Members that are zero have their defaults. */
    uint64_t nodes; /* how many shards run at a time at most; 0: as many as the scheduler likes */
    bool dry_run;   /* The scripts are only written. */
} penta_batch_cluster;
/* Plans the job, writes a script for an array of its shards and one for the merge after it, and
 * gives both to Slurm. Appends a JSON object with the names of the scripts and the numbers of
 * the jobs. */
PENTA_API bool penta_batch_submit(const penta_batch_job *job, const penta_batch_cluster *how,
                                  penta_buffer *json, penta_error *err);
/* Puts the files of the shards together into the results. Returns false when some are missing or
 * do not fit; `err` names them. */
PENTA_API bool penta_batch_merge(const char *results, penta_batch_totals *totals, penta_error *err);
/* Appends a JSON object with verb, shards with their state, lines so far, and verdicts. */
PENTA_API bool penta_batch_status(const char *results, penta_buffer *json, penta_error *err);
/* Appends a page for a browser about all results. */
PENTA_API bool penta_batch_report(const char *results, penta_buffer *html, penta_error *err);

#ifdef __cplusplus
}
#endif
