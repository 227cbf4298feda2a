/* A session is a machine together with its host. Its run can be traced, and debugged forwards
 * and backwards.
 *
 * A session runs a machine until a stop that nobody answers. Host calls are answered, in this
 * order, by what a debugger recorded before, by the caller's own host, and by the default host
 * of the format, which is what `penta run` uses: a clock, a board, a console, a chain, as the
 * options say. A call that none of them answers stops the run with PENTA_STOP_HOST; the caller
 * may answer it then with penta_session_answer, and run on.
 *
 * The rules of penta.h hold: buffers are appended to, a failed call leaves them as they were,
 * `err` is cleared first. A session belongs to one thread at a time; penta_vm_interrupt of its
 * machine may be called from anywhere. The module must outlive the session, the session its
 * debugger. */
#pragma once
#include "penta/penta.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The functions below are about sessions. */

typedef struct penta_session penta_session;

/* Reports every reason why the program should not be run: errors of the container, requirements
 * of its opening that it does not meet, and errors of the program itself unless `unverified` is
 * true. Returns true when there is none. penta_session_new refuses only a program that no
 * machine can open or no host can serve. */
PENTA_API bool penta_check_run(const penta_module *module, bool unverified, penta_report *report,
                               void *user);

/* Makes a session. When `engine` is NULL, it is the format's default. Options are those of
 * PENTA_USE_RUN, for machine and host. `stop` is as for penta_vm_new and may be NULL. */
PENTA_API penta_session *penta_session_new(const penta_module *module, const char *engine,
                                           const penta_option *options, size_t count,
                                           const volatile int *stop, penta_error *err);
PENTA_API void penta_session_free(penta_session *session); /* `session` may be NULL. */

/* Returns the machine. All functions of penta.h may be used with it except penta_vm_answer and
 * penta_vm_free; penta_vm_run only with a fuel of 0, which tells where it is. */
PENTA_API penta_vm *penta_session_vm(const penta_session *session);
/* Returns how many instructions were executed so far, or UINT64_MAX when the engine does not
 * count them. */
PENTA_API uint64_t penta_session_steps(const penta_session *session);
/* Returns how many host calls were answered. */
PENTA_API uint64_t penta_session_calls(const penta_session *session);
/* Returns the reason why an answer could not be given or applied, or NULL. The first failure is
 * kept. */
PENTA_API const penta_error *penta_session_failure(const penta_session *session);

/* Executes at most `fuel` instructions; UINT64_MAX means no limit. stop->steps counts those of
 * this call. A host call that waits for an answer is tried again first. */
PENTA_API void penta_session_run(penta_session *session, uint64_t fuel, penta_stop *stop);

/* Continues from a snapshot that penta_vm_save made of the same program: the machine is as it
 * was then, and steps go on from there. The host is not: a snapshot does not have its state,
 * except what a CockpitVM program can observe of the simulated board. Returns false when the
 * snapshot does not fit, and everything is as before. */
PENTA_API bool penta_session_load(penta_session *session, penta_bytes saved, penta_error *err);

/* With the functions below the caller is the host. */

/* When `on` is true, the default host answers nothing, and every host call stops the run; no
 * callback is needed. penta_session_answer_default lets the default host answer the waiting call
 * all the same. */
PENTA_API void penta_session_stop_at_calls(penta_session *session, bool on);

/* A penta_call_end says how the program's call goes on after an answer. */
typedef enum penta_call_end {
    PENTA_CALL_GOES_ON,
    PENTA_CALL_ENDS,  /* The call ends as if the program had returned. */
    PENTA_CALL_TRAPS, /* The host refuses, and the program traps. */
    /* The program has less gas than the call costs, and ends without
                               * gas. */
    PENTA_CALL_UNPAID,
} penta_call_end;

/* Sets the gas that the host call costs and how it ends, for the next answer. Machines without
 * gas, or without calls that end, ignore it. */
PENTA_API void penta_session_settle(penta_session *session, uint64_t gas, penta_call_end end);
/* Answers the waiting call. Before that the caller may read and change the machine with
 * penta_vm_peek, penta_vm_poke and the functions of the format's header; a debugger records what
 * changed. Returns false when no call waits, or so many results do not fit; then the call still
 * waits. */
PENTA_API bool penta_session_answer(penta_session *session, const uint64_t *results, size_t count,
                                    penta_error *err);
PENTA_API bool penta_session_answer_default(penta_session *session, penta_error *err);

/* Sets a function that is asked before the default host, whether that is on or not. It calls
 * penta_session_answer and returns true, or returns false for calls that are not its own. It
 * must not run the session. When `ask` is NULL, no function is asked. */
typedef bool penta_host_call(void *user, penta_session *session, const penta_stop *stop);
PENTA_API void penta_session_set_host(penta_session *session, penta_host_call *ask, void *user);

/* The declarations below are about what the program prints and calls. */

/* A penta_call is a host call and its answer, borrowed during the callback. */
typedef struct penta_call {
    penta_stop stop;
    bool answered; /* The call was answered; false: nobody could answer it. */
    /* This is no call of the program, but work of the host between two calls. */
    bool between;
    const uint64_t *results; /* the results of the answer */
    size_t count;
    penta_bytes output; /* what the program printed by this call */
    /* `errors` is what the program printed to standard error by this call, where the host has
     * that. */
    penta_bytes errors;
    /* `note` is the call and its answer as a line, where the host describes them better. */
    penta_bytes note;
} penta_call;
typedef void penta_call_report(void *user, const penta_call *call);

/* Sets a function that gets every call that was answered, and each that nobody could answer, but
 * not calls that a debugger repeats. When `report` is NULL, no function gets them. */
PENTA_API void penta_session_on_call(penta_session *session, penta_call_report *report, void *user);
/* Appends a call as a line of text without its end, or as a JSON object with call, name, pc,
 * args, answered, results, and note where there is one. */
PENTA_API bool penta_call_print(const penta_session *session, const penta_call *call, bool json,
                                penta_buffer *out, penta_error *err);

/* Appends what the program printed since the last time, and forgets it; no callback is needed.
 * Either buffer may be NULL: then that output is kept. Nothing is kept while a report is set.
 * Returns false when memory ran out, and a part of the output is lost. */
PENTA_API bool penta_session_output(penta_session *session, penta_buffer *output,
                                    penta_buffer *errors, penta_error *err);
/* penta_session_keep_log keeps a log of at most `max` calls from now on, as lines of text or of
 * JSON objects. A session starts with a `max` of 0, which keeps none. penta_session_log appends
 * the log and forgets it; it returns false when memory ran out, and a part is lost. */
PENTA_API void penta_session_keep_log(penta_session *session, size_t max, bool json);
PENTA_API bool penta_session_log(penta_session *session, penta_buffer *out, penta_error *err);

/* The functions below give what the host has at the end. */

/* Tells whether the program is one for a console. What such a program prints is its result, and
 * the value of its HALT (args[0] of the stop) is its exit code. */
PENTA_API bool penta_session_is_console(const penta_session *session);
/* Appends what the host has to tell after the last run, as lines of text or as one JSON object;
 * often it is nothing, or an empty object. Hosts that keep a store write it now. */
PENTA_API bool penta_session_finish(penta_session *session, const penta_stop *stop, bool json,
                                    penta_buffer *out, penta_error *err);
/* Appends the state of the host, as its option 'state' reads it. Returns false with code
 * PENTA0010 when it has none. */
PENTA_API bool penta_session_save_host(penta_session *session, penta_buffer *out, penta_error *err);

/* The functions below are about the files of a console program. Paths are the program's own;
 * option 'files' says which it has. Folders that are not folders of the host lie in memory, and
 * end with the session. The functions fail with code PENTA0010 when the host has no files, and
 * with PENTA0004 when the path cannot be used, with the reason that the program would get. A
 * debugger that goes back does not undo what they do. */

/* Makes a file, with the folders on the way to it, or gives it other bytes. */
PENTA_API bool penta_session_file_put(penta_session *session, const char *path, penta_bytes bytes,
                                      penta_error *err);
/* Appends the bytes of a file. */
PENTA_API bool penta_session_file_get(penta_session *session, const char *path, penta_buffer *out,
                                      penta_error *err);
/* Appends the files that lie in memory, as a JSON list of objects with path and size, sorted by
 * path. */
PENTA_API bool penta_session_files(penta_session *session, penta_buffer *out, penta_error *err);

/* The functions below write traces. */

/* Runs as penta_session_run does, and appends a line for each instruction: step, pc,
 * instruction, and what it changed, which is found by comparing the described state before and
 * after. The options are:
 *
 *     json   1      lines are JSON objects: step, pc, text, changes, stop
 *     from   N      the first step to show (0); those before run at full speed
 *     count  N      at most N lines; the rest runs at full speed
 *     last   N      only the last N lines, at the end (at most 10000000)
 *     match  TEXT   only instructions whose text has TEXT in it
 *     inner  1      what host calls print comes as lines before that of the call
 *
 * Returns false when an option is wrong, and then nothing was run, or when memory ran out for
 * lines. */
PENTA_API bool penta_trace(penta_session *session, uint64_t fuel, const penta_option *options,
                           size_t count, penta_buffer *out, penta_stop *stop, penta_error *err);
/* Traces as penta_trace does, and gives each line without its end to `line` as it comes. */
PENTA_API bool penta_trace_lines(penta_session *session, uint64_t fuel, const penta_option *options,
                                 size_t count, penta_piece *line, void *user, penta_stop *stop,
                                 penta_error *err);

/* A debugger steps any machine in both directions. It takes snapshots now and then and records
 * the answers of the host. To go back, it loads the last snapshot before the wanted step and
 * runs forward again, with the recorded answers. The host itself does not go back: it is asked
 * only for what is new.
 *
 * While a debugger is attached, the session is run through it only. The machine may be read, but
 * changed only before an answer. */

typedef struct penta_debugger penta_debugger;

PENTA_API penta_debugger *penta_debugger_new(penta_session *session, penta_error *err);
PENTA_API void penta_debugger_free(penta_debugger *debugger); /* `debugger` may be NULL. */

/* Goes forward by at most n instructions; UINT64_MAX means no limit. A mark or watch at the
 * place where it starts does not stop it. Returns false when there is no memory for the history.
 * The machine did run then, and `stop` says where to, but going back will not be exact. */
PENTA_API bool penta_debugger_forward(penta_debugger *debugger, uint64_t n, penta_stop *stop,
                                      penta_error *err);
/* Goes to the state after exactly so many steps from the start, forwards or backwards, whatever
 * marks and watches there are. stop->pc is that of the next instruction. Returns false when the
 * run stops before that step (then `err` has no code, and `stop` says why), or memory ran out. */
PENTA_API bool penta_debugger_goto(penta_debugger *debugger, uint64_t step, penta_stop *stop,
                                   penta_error *err);
/* Goes back by n steps, or to the start if that is nearer. */
PENTA_API bool penta_debugger_back(penta_debugger *debugger, uint64_t n, penta_stop *stop,
                                   penta_error *err);

/* penta_debugger_mark sets or removes a breakpoint, and returns false when no instruction starts
 * there. penta_debugger_marks stores at most `max` marks, in the order of their pcs, and returns
 * how many there are; `pcs` may be NULL when `max` is 0. */
PENTA_API bool penta_debugger_mark(penta_debugger *debugger, uint64_t pc, bool on);
PENTA_API size_t penta_debugger_marks(const penta_debugger *debugger, uint64_t *pcs, size_t max);

/* Sets a watch, which stops with PENTA_STOP_BREAK after an instruction that changes a value. `what` is
 *
 *     /registers/a0         a value of the machine's tree, as penta_vm_describe walks it
 *     /registers/a0=0x2a    such a value, when it becomes 0x2a
 *     0x10000:8             bytes of memory, ADDRESS:LENGTH, at most 4096 of them
 *     count + 1             an expression of penta/debug.h; where it has no value it has not changed
 *
 * When `on` is false, the watch is removed. While there are watches the machine runs step by step.
 * Returns false when `what` is none of these, or there is no such watch to remove.
 * penta_debugger_watch_hit returns the watch that stopped the last run, or NULL when none did;
 * penta_debugger_watch_at lists the watches, and returns NULL beyond the last. */
PENTA_API bool penta_debugger_watch(penta_debugger *debugger, const char *what, bool on,
                                    penta_error *err);
PENTA_API const char *penta_debugger_watch_at(const penta_debugger *debugger, size_t i);
PENTA_API const char *penta_debugger_watch_hit(const penta_debugger *debugger);

#ifdef __cplusplus
}
#endif
