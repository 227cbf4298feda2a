/* Where a run spends its instructions, its gas, its operations or its time: by function, block, source
 * line, instruction and call path; and which of them never ran.
 *
 *     penta_session_count(session, err);
 *     penta_session_run(session, UINT64_MAX, &stop);
 *     penta_profile *profile = penta_profile_new(session, err);
 *
 * Counts are exact; the machine runs up to half as long again, with many small calls a little longer.
 * Engines that compile cannot count: with them penta_session_sample takes the place of
 * penta_session_count, and a timer of the caller's makes the samples.
 *
 * The rules of penta.h hold: buffers are appended to, a failed call leaves them as they were, `err`
 * is cleared first. */
#pragma once
#include "penta/session.h"
#include "penta/structure.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- taking one ---- */

/* Counts what the machine executes from now on. Breakpoints cannot be set then, and no debugger can be
 * attached. False: the engine cannot count (penta_engine_name 0 of each format can), a debugger is
 * attached, or memory ran out. */
PENTA_API bool penta_session_count(penta_session *session, penta_error *err);

/* Prepares for samples of compiled code, each of which counts for the instruction that is under way
 * and the functions that are open. False: the engine does not compile (it can count), or memory ran
 * out. */
PENTA_API bool penta_session_sample(penta_session *session, penta_error *err);
/* Takes one. To be called in a handler of a signal (SA_SIGINFO) that interrupts the thread in which
 * the session runs, with the handler's third argument. Async-signal-safe. What hosts and rare
 * instructions do counts for the instruction that they are done for. */
PENTA_API void penta_session_take_sample(penta_session *session, const void *context);
/* The same for who keeps samples himself: the instructions that are under way at this place of native
 * code, of the innermost function first, at most max; for callers any instruction of the function.
 * Returns how many; 0: not known. */
PENTA_API size_t penta_session_where(const penta_session *session, const void *context,
                                     uint64_t *pcs, size_t max);

typedef struct penta_profile penta_profile;

/* What was counted or sampled so far, as an object of its own: the session may run on or be freed, the
 * module must outlive it. False: nothing is. */
PENTA_API penta_profile *penta_profile_new(const penta_session *session, penta_error *err);
/* One of a program that never ran, for penta_profile_read to add to. */
PENTA_API penta_profile *penta_profile_empty(const penta_module *module, penta_error *err);
PENTA_API void penta_profile_free(penta_profile *profile); /* NULL is fine */
/* Adds the counts of another run of the same program. False: it is of another program, or one of the
 * two has counts and the other samples. */
PENTA_API bool penta_profile_add(penta_profile *profile, const penta_profile *other,
                                 penta_error *err);

/* ---- reading it ---- */

PENTA_API const penta_structure *penta_profile_structure(const penta_profile *profile);
/* What it has: "instructions", every execution of one; or "samples". What is said of executions below
 * is then about samples; how often something was called, and what never ran, they do not tell. */
PENTA_API const char *penta_profile_unit(const penta_profile *profile);
/* What is counted besides executions: "gas", "operations"; NULL: nothing. */
PENTA_API const char *penta_profile_cost_name(const penta_profile *profile);
/* All executions, and all of their cost. */
PENTA_API uint64_t penta_profile_total(const penta_profile *profile);
PENTA_API uint64_t penta_profile_total_cost(const penta_profile *profile);
/* Of one instruction; false: none is at pc. The cost of a block of pvm is that of its first. */
PENTA_API bool penta_profile_at(const penta_profile *profile, uint64_t pc, uint64_t *executions,
                                uint64_t *cost);

typedef struct penta_path { /* a way of calls to a function */
    size_t parent;          /* path; SIZE_MAX: it was not called from another */
    size_t function;        /* of the structure; SIZE_MAX: deeper than paths are kept apart */
    uint64_t calls;
    uint64_t executions, cost; /* in the function itself */
} penta_path;
/* False: there are no more. Parents come before their children. */
PENTA_API bool penta_profile_path_at(const penta_profile *profile, size_t i, penta_path *path);

/* ---- as text ---- */

/* A table, the largest first. Options:
 *
 *     by     function|block|line|instruction   what a row is (function)
 *     weight NAME   sorts by the cost of this name instead of by executions
 *     top    N      at most N rows
 *     json   1      an object with unit, total, cost, and a list of rows: name, from, to, executions
 *                   or samples, share, and where there are such: total, calls, cost, file, line
 *
 * Total is with all that was called. */
PENTA_API bool penta_profile_table(const penta_profile *profile, const penta_option *options,
                                   size_t count, penta_buffer *out, penta_error *err);
/* Call paths as lines "outer;inner COUNT", which flame graph tools read. Option weight as above. */
PENTA_API bool penta_profile_folded(const penta_profile *profile, const penta_option *options,
                                    size_t count, penta_buffer *out, penta_error *err);
/* The same as a picture (SVG) that a browser shows: a click zooms, without network. Options: weight,
 * title TEXT. */
PENTA_API bool penta_profile_flamegraph(const penta_profile *profile, const penta_option *options,
                                        size_t count, penta_buffer *out, penta_error *err);

/* ---- coverage: false for samples ---- */

/* How many blocks, instructions and lines ran, by function. Options: json 1; uncovered 1: the
 * instructions and lines that never ran instead. */
PENTA_API bool penta_profile_coverage(const penta_profile *profile, const penta_option *options,
                                      size_t count, penta_buffer *out, penta_error *err);
/* By source line, in the form of lcov's files. False: the program has no lines. */
PENTA_API bool penta_profile_lcov(const penta_profile *profile, penta_buffer *out,
                                  penta_error *err);
/* The listing with counts as one HTML file. Options: title TEXT (the name of the format). */
PENTA_API bool penta_profile_html(const penta_profile *profile, const penta_option *options,
                                  size_t count, penta_buffer *out, penta_error *err);
/* Counts as text, and adding those of earlier runs of the same program: lines "penta counts 1",
 * "program FORMAT SIZE CRC32", and "PC COUNT" for each instruction that ran. Call paths are not in it.
 * A text that is damaged, or of another program, is refused, and nothing is added. */
PENTA_API bool penta_profile_write(const penta_profile *profile, penta_buffer *out,
                                   penta_error *err);
PENTA_API bool penta_profile_read(penta_profile *profile, penta_bytes text, penta_error *err);

#ifdef __cplusplus
}
#endif
