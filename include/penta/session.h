/* A machine together with its host; the run as a trace; a debugger that goes backwards.
 *
 * A session runs a machine until a stop that nobody answers. Host calls are answered, in this
 * order, by what a debugger recorded before, by the caller's own host, and by the default host of
 * the format, which is what `penta run` uses: a clock, a board, a console, a chain, as the options
 * say. A call that none of them answers stops the run with PENTA_STOP_HOST; the caller may answer
 * it then with penta_session_answer, and run on.
 *
 * The rules of penta.h hold: buffers are appended to, a failed call leaves them as they were, `err`
 * is cleared first. A session belongs to one thread at a time; penta_vm_interrupt of its machine
 * may be called from anywhere. The module must outlive the session, the session its debugger. */
#pragma once
#include "penta/penta.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- sessions ---- */

typedef struct penta_session penta_session;

/* Reports every reason why the program should not be run: errors of the container, what it was
 * opened to be checked against, and errors of the program itself unless `unverified`. True when
 * there is none. penta_session_new refuses only what no machine can open or no host can serve. */
PENTA_API bool penta_check_run(const penta_module *module, bool unverified, penta_report *report,
                               void *user);

/* engine NULL: the format's default. Options: those of PENTA_USE_RUN, for machine and host. stop: as of
 * penta_vm_new; may be NULL. */
PENTA_API penta_session *penta_session_new(const penta_module *module, const char *engine,
                                           const penta_option *options, size_t count,
                                           const volatile int *stop, penta_error *err);
PENTA_API void penta_session_free(penta_session *session); /* NULL is fine */

/* The machine, for everything of penta.h but penta_vm_answer, penta_vm_free, and penta_vm_run with
 * other fuel than 0, which only says where it is. */
PENTA_API penta_vm *penta_session_vm(const penta_session *session);
/* Instructions executed so far; UINT64_MAX: the engine does not count. */
PENTA_API uint64_t penta_session_steps(const penta_session *session);
PENTA_API uint64_t penta_session_calls(const penta_session *session); /* host calls answered */
/* Why an answer could not be given or applied, or NULL. The first failure is kept. */
PENTA_API const penta_error *penta_session_failure(const penta_session *session);

/* Executes at most fuel instructions; UINT64_MAX: no limit. stop->steps counts those of this call.
 * A call that waits for an answer is asked again. */
PENTA_API void penta_session_run(penta_session *session, uint64_t fuel, penta_stop *stop);

/* Continues from a snapshot that penta_vm_save made of the same program: the machine is as it was then,
 * and steps go on from there. The host is not: what it knew at that time is not in a snapshot, except what a
 * CockpitVM program can observe of the simulated board. False: the snapshot does not fit, and everything is as
 * before. */
PENTA_API bool penta_session_load(penta_session *session, penta_bytes saved, penta_error *err);

/* ---- the caller as the host ---- */

/* Without a callback: when on, the default host answers nothing, and every host call stops the run.
 * penta_session_answer_default lets it answer the one that waits all the same. */
PENTA_API void penta_session_stop_at_calls(penta_session *session, bool on);

typedef enum penta_call_end { /* what becomes of the program's call */
                              PENTA_CALL_GOES_ON,
                              PENTA_CALL_ENDS,  /* as if the program had returned */
                              PENTA_CALL_TRAPS, /* the host refuses */
                              PENTA_CALL_UNPAID, /* the program has less gas than the call costs: it ends without gas */
} penta_call_end;

/* For the answer to come: gas that the call costs, and how it ends. Machines without gas, or
 * without calls that end, ignore it. */
PENTA_API void penta_session_settle(penta_session *session, uint64_t gas, penta_call_end end);
/* Answers the call that waits. Before it the caller may read and change the machine with
 * penta_vm_peek, penta_vm_poke and the calls of the format's header: a debugger records what
 * changed. False: no call waits, or so many results do not fit, and it still waits. */
PENTA_API bool penta_session_answer(penta_session *session, const uint64_t *results, size_t count,
                                    penta_error *err);
PENTA_API bool penta_session_answer_default(penta_session *session, penta_error *err);

/* With a callback: asked before the default host, whether it is on or not. It calls
 * penta_session_answer and returns true, or returns false: not its call. It must not run the
 * session. ask NULL: no longer. */
typedef bool penta_host_call(void *user, penta_session *session, const penta_stop *stop);
PENTA_API void penta_session_set_host(penta_session *session, penta_host_call *ask, void *user);

/* ---- what the program prints and calls ---- */

typedef struct penta_call { /* a host call and its answer; borrowed during the callback */
    penta_stop stop;
    bool answered;           /* false: nobody could */
    bool between;            /* no call of the program: the host's own work between two of them */
    const uint64_t *results; /* of the answer */
    size_t count;
    penta_bytes output; /* what the program printed with it */
    penta_bytes errors; /* and to standard error, where it has one */
    penta_bytes note;   /* the call and its answer as a line, where the host says it better */
} penta_call;
typedef void penta_call_report(void *user, const penta_call *call);

/* Told of every call that was answered, and of each that nobody could answer; not of calls that a
 * debugger repeats. report NULL: no longer. */
PENTA_API void penta_session_on_call(penta_session *session, penta_call_report *report, void *user);
/* A call as a line of text without its end, or as a JSON object: call, name, pc, args, answered,
 * results, and note where there is one. */
PENTA_API bool penta_call_print(const penta_session *session, const penta_call *call, bool json,
                                penta_buffer *out, penta_error *err);

/* Without a callback: appends what the program printed since the last time, and forgets it. Either
 * may be NULL: then that one is kept. Nothing is kept while a report is set. False: memory ran out,
 * and something that it printed is lost. */
PENTA_API bool penta_session_output(penta_session *session, penta_buffer *output,
                                    penta_buffer *errors, penta_error *err);
/* Keeps a log of at most max calls from now on, as lines of text or of JSON objects; max 0: none,
 * which is how a session starts. penta_session_log appends it and forgets it; false as above. */
PENTA_API void penta_session_keep_log(penta_session *session, size_t max, bool json);
PENTA_API bool penta_session_log(penta_session *session, penta_buffer *out, penta_error *err);

/* ---- what the host has at the end ---- */

/* The program is one for a console: what it prints is its result, and the value of its HALT (args[0]
 * of the stop) is its exit code. */
PENTA_API bool penta_session_is_console(const penta_session *session);
/* After the last run: what the host has to tell, as lines of text or as one JSON object; often
 * nothing, or an empty object. Hosts that keep a store write it now. */
PENTA_API bool penta_session_finish(penta_session *session, const penta_stop *stop, bool json,
                                    penta_buffer *out, penta_error *err);
/* The state of the host, as its option 'state' reads it. False with code PENTA0010: it has none. */
PENTA_API bool penta_session_save_host(penta_session *session, penta_buffer *out, penta_error *err);

/* ---- the files of a console program ----
 *
 * Paths are the program's own; what it has follows from option 'files'. Folders without a folder of the host lie in
 * memory, and go with the session. All three fail with code PENTA0010 when the host has no files, and with PENTA0004 when the path
 * cannot be used, with the reason that the program would get. A debugger does not go back over them. */

/* Makes a file, with the folders on the way to it, or gives it other bytes. */
PENTA_API bool penta_session_file_put(penta_session *session, const char *path, penta_bytes bytes,
                                      penta_error *err);
/* Appends the bytes of a file. */
PENTA_API bool penta_session_file_get(penta_session *session, const char *path, penta_buffer *out,
                                      penta_error *err);
/* Appends the files that lie in memory, as a JSON list of objects with path and size, sorted by path. */
PENTA_API bool penta_session_files(penta_session *session, penta_buffer *out, penta_error *err);

/* ---- trace ---- */

/* Runs like penta_session_run, with a line for each instruction: step, pc, instruction, and what it
 * changed, which is found by comparing the described state before and after. Options:
 *
 *     json   1      lines are JSON objects: step, pc, text, changes, stop
 *     from   N      the first step to show (0); those before run at full speed
 *     count  N      at most N lines; the rest runs at full speed
 *     last   N      only the last N lines, at the end (at most 10000000)
 *     match  TEXT   only instructions whose text has TEXT in it
 *     inner  1      what host calls print comes as lines before that of the call
 *
 * False: an option is wrong, and nothing was run; or memory ran out for lines. */
PENTA_API bool penta_trace(penta_session *session, uint64_t fuel, const penta_option *options,
                           size_t count, penta_buffer *out, penta_stop *stop, penta_error *err);
/* Each line without its end goes to `line` as it comes. */
PENTA_API bool penta_trace_lines(penta_session *session, uint64_t fuel, const penta_option *options,
                                 size_t count, penta_piece *line, void *user, penta_stop *stop,
                                 penta_error *err);

/* ---- debugger ----
 *
 * Steps any machine in both directions. It takes snapshots now and then and records the answers of
 * the host; going back loads the last snapshot before the wanted step and runs forward again, with
 * the recorded answers. The host itself does not go back: it is asked only for what is new.
 *
 * While a debugger is attached the session is run through it only. Its machine may be read, but
 * changed only before an answer. */

typedef struct penta_debugger penta_debugger;

PENTA_API penta_debugger *penta_debugger_new(penta_session *session, penta_error *err);
PENTA_API void penta_debugger_free(penta_debugger *debugger); /* NULL is fine */

/* Forward by at most n instructions; UINT64_MAX: no limit. A mark or watch at the place where it
 * starts does not stop it. False: no memory for the history; the machine did run, and stop says
 * where to, but going back will not be exact. */
PENTA_API bool penta_debugger_forward(penta_debugger *debugger, uint64_t n, penta_stop *stop,
                                      penta_error *err);
/* To the state after exactly so many steps from the start, forwards or backwards, whatever marks
 * and watches there are; stop->pc is that of the next instruction. False: the run stops before that
 * step (then err has no code, and stop says why), or memory ran out. */
PENTA_API bool penta_debugger_goto(penta_debugger *debugger, uint64_t step, penta_stop *stop,
                                   penta_error *err);
/* Back by n steps, to the start at most. */
PENTA_API bool penta_debugger_back(penta_debugger *debugger, uint64_t n, penta_stop *stop,
                                   penta_error *err);

/* A breakpoint, on or off; false: no instruction starts there. Marks are listed in the order of
 * their pcs: how many there are, of which at most max are stored. pcs may be NULL when max is 0. */
PENTA_API bool penta_debugger_mark(penta_debugger *debugger, uint64_t pc, bool on);
PENTA_API size_t penta_debugger_marks(const penta_debugger *debugger, uint64_t *pcs, size_t max);

/* Stops with PENTA_STOP_BREAK after the instruction that changes something. `what` is
 *
 *     /registers/a0         a value of the machine's tree, as penta_vm_describe walks it
 *     /registers/a0=0x2a    the same, when it becomes this value
 *     0x10000:8             bytes of memory, ADDRESS:LENGTH, at most 4096 of them
 *     count + 1             an expression of penta/debug.h; where it has no value it has not changed
 *
 * on false: no longer. While there are watches the machine runs step by step. False: it is none of
 * these, or off and not there. penta_debugger_watch_hit gives what stopped the last run, or NULL: not a
 * watch; penta_debugger_watch_at lists them, NULL beyond the last. */
PENTA_API bool penta_debugger_watch(penta_debugger *debugger, const char *what, bool on,
                                    penta_error *err);
PENTA_API const char *penta_debugger_watch_at(const penta_debugger *debugger, size_t i);
PENTA_API const char *penta_debugger_watch_hit(const penta_debugger *debugger);

#ifdef __cplusplus
}
#endif
