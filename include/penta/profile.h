/* A profile says where a run spends its instructions, its gas, its operations or its time, by
 * function, block, source line, instruction and call path, and which of these never ran.
 *
 *     penta_session_count(session, err);
 *     penta_session_run(session, UINT64_MAX, &stop);
 *     penta_profile *profile = penta_profile_new(session, err);
 *
 * Counts are exact. While it counts, a machine takes up to half as long again, with many small
 * calls a little longer. Engines that compile cannot count: with them penta_session_sample takes
 * the place of penta_session_count, and a timer of the caller makes the samples.
 *
 * The rules of penta.h hold: buffers are appended to, a failed call leaves them as they were,
 * `err` is cleared first. */
#pragma once
#include "penta/session.h"
#include "penta/structure.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The functions below take a profile. */

/* Counts what the machine executes from now on. Breakpoints cannot be set then, and no debugger
 * can be attached. Returns false when the engine cannot count (penta_engine_name 0 of each
 * format can), a debugger is attached, or memory ran out. */
PENTA_API bool penta_session_count(penta_session *session, penta_error *err);

/* Prepares the session for samples of compiled code. Each sample counts for the instruction that
 * is executed and for the functions that are open. Returns false when the engine does not
 * compile (then it can count), or memory ran out. */
PENTA_API bool penta_session_sample(penta_session *session, penta_error *err);
/* Takes a sample. A signal handler (SA_SIGINFO) that interrupts the thread in which the session
 * runs calls this function with its third argument. The function is async-signal-safe. Work of
 * hosts and of rare instructions counts for the instruction that needs it. */
PENTA_API void penta_session_take_sample(penta_session *session, const void *context);
/* Finds the instructions that are executed at this place of native code, for callers that keep
 * samples themselves. The pc of the innermost function comes first; for its callers it may be
 * any instruction of the function. At most `max` are stored. Returns how many were found, or 0
 * when the place is not known. */
PENTA_API size_t penta_session_where(const penta_session *session, const void *context,
                                     uint64_t *pcs, size_t max);

typedef struct penta_profile penta_profile;

/* Makes a profile of what was counted or sampled so far. The session may run on or be freed; the
 * module must outlive the profile. Returns NULL when nothing is counted or sampled. */
PENTA_API penta_profile *penta_profile_new(const penta_session *session, penta_error *err);
/* Makes a profile of a program that never ran, to which penta_profile_read can add. */
PENTA_API penta_profile *penta_profile_empty(const penta_module *module, penta_error *err);
PENTA_API void penta_profile_free(penta_profile *profile); /* `profile` may be NULL. */
/* Adds the counts of another run of the same program. Returns false when `other` is of another
 * program, or one of the two has counts and the other samples. */
PENTA_API bool penta_profile_add(penta_profile *profile, const penta_profile *other,
                                 penta_error *err);

/* The functions below read a profile. */

PENTA_API const penta_structure *penta_profile_structure(const penta_profile *profile);
/* Returns the unit of a profile. In a profile of "instructions" every execution of an
 * instruction is counted. In a profile of "samples" all functions below give samples instead of
 * executions; samples do not tell how often something was called, or what never ran. */
PENTA_API const char *penta_profile_unit(const penta_profile *profile);
/* Returns the name of the cost that is counted besides executions, "gas" or "operations", or
 * NULL when there is none. */
PENTA_API const char *penta_profile_cost_name(const penta_profile *profile);
/* These functions return the number of all executions, and the cost of all of them. */
PENTA_API uint64_t penta_profile_total(const penta_profile *profile);
PENTA_API uint64_t penta_profile_total_cost(const penta_profile *profile);
/* Gives the executions and the cost of one instruction. Returns false when no instruction is at
 * pc. In pvm a block has its cost at its first instruction. */
PENTA_API bool penta_profile_at(const penta_profile *profile, uint64_t pc, uint64_t *executions,
                                uint64_t *cost);

typedef struct penta_path { /* A penta_path is a sequence of calls that leads to a function. */
    /* `parent` is the index of the caller's path; SIZE_MAX means that no other function called
     * this one. */
    size_t parent;
    /* `function` is the index of the function in the structure; SIZE_MAX means that calls are
     * too deep to be kept apart. */
    size_t function;
    uint64_t calls;
    /* `executions` and `cost` are those of the function itself, without those of functions that
     * it calls. */
    uint64_t executions, cost;
} penta_path;
/* Gives path i. Returns false when there are no more. Parents come before their children. */
PENTA_API bool penta_profile_path_at(const penta_profile *profile, size_t i, penta_path *path);

/* The functions below write a profile as text. */

/* Appends a table, whose largest rows come first. The options are:
 *
 *     by     function|block|line|instruction   what a row is (function)
 *     weight NAME   sorts by the cost of this name instead of by executions
 *     top    N      at most N rows
 *     json   1      an object with unit, total, cost, and a list of rows: name, from, to, executions
 *                   or samples, share, and where there are such: total, calls, cost, file, line
 *
 * The total of a row includes everything that was called. */
PENTA_API bool penta_profile_table(const penta_profile *profile, const penta_option *options,
                                   size_t count, penta_buffer *out, penta_error *err);
/* Appends call paths as lines "outer;inner COUNT", which flame graph tools read. The option is
 * weight, as for penta_profile_table. */
PENTA_API bool penta_profile_folded(const penta_profile *profile, const penta_option *options,
                                    size_t count, penta_buffer *out, penta_error *err);
/* Appends call paths as a flame graph: a picture (SVG) that a browser shows and in which a click
 * zooms, without network. The options are weight, as for penta_profile_table, and title TEXT. */
PENTA_API bool penta_profile_flamegraph(const penta_profile *profile, const penta_option *options,
                                        size_t count, penta_buffer *out, penta_error *err);

/* The functions below are about coverage. They return false for profiles of samples. */

/* Appends how many blocks, instructions and lines ran, by function. The options are json 1, and
 * uncovered 1, which shows the instructions and lines that never ran instead. */
PENTA_API bool penta_profile_coverage(const penta_profile *profile, const penta_option *options,
                                      size_t count, penta_buffer *out, penta_error *err);
/* Appends coverage by source line, in the form of lcov's files. Returns false when the program
 * has no lines. */
PENTA_API bool penta_profile_lcov(const penta_profile *profile, penta_buffer *out,
                                  penta_error *err);
/* Appends the listing with counts as one HTML file. The option is title TEXT; without it the
 * title is the name of the format. */
PENTA_API bool penta_profile_html(const penta_profile *profile, const penta_option *options,
                                  size_t count, penta_buffer *out, penta_error *err);
/* penta_profile_write appends counts as text, and penta_profile_read adds those of an earlier
 * run of the same program. The lines are "penta counts 1", "program FORMAT SIZE CRC32", and "PC
 * COUNT" for each instruction that ran. They do not have call paths. A text that is damaged, or
 * of another program, is refused, and nothing is added. */
PENTA_API bool penta_profile_write(const penta_profile *profile, penta_buffer *out,
                                   penta_error *err);
PENTA_API bool penta_profile_read(penta_profile *profile, penta_bytes text, penta_error *err);

#ifdef __cplusplus
}
#endif
