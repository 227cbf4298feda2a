/* The struct of penta/session.h, which session, log, trace and debugger share. */
#pragma once
#include "base/writer.h"
#include "core/driver.h"
#include "core/host.h"
#include "penta/session.h"

struct counts;   /* core/structure/counts.h */
struct samples;  /* penta/analysis/samples.h */
struct code_map; /* core/structure/code_map.h */

struct penta_session {
    const penta_module *module;
    penta_vm *vm;
    const struct host *host; /* NULL when the format has none */
    struct opened_host opened;
    uint64_t steps, calls;
    penta_error failure; /* why an answer could not be given or applied, or code 0 */

    penta_stop stop;      /* the host call that is being answered or waits for an answer */
    bool waits;           /* whether the session waits for penta_session_answer */
    struct answer answer; /* the answer to that call */
    bool stop_at_calls;
    penta_host_call *ask;
    void *ask_user;
    penta_call_report *report;
    void *report_user;
    penta_debugger *debugger;  /* or NULL */
    struct recorder *recorder; /* NULL when the run is not recorded */
    struct counts *counts;     /* the counts of an interpreter for a profile, or NULL */
    struct samples *samples;   /* the samples of compiled code for a profile, or NULL */
    struct code_map *code_map;

    struct writer output, errors, log; /* kept for callers without a callback */
    size_t log_left;                   /* how many calls the log still takes */
    bool log_json;
};

/* ---- session.c ---- */
/* Makes a session. host: who answers its calls, or NULL. */
penta_session *session_new(const penta_module *module, const char *engine,
                           const penta_option *options, size_t count, const volatile int *stop,
                           const struct host *host, penta_error *err);

/* ---- session_log.c ---- */
/* Tells the log and the callbacks of the call, and keeps what it printed. */
void session_tell(struct penta_session *s, bool answered);

/* ---- analysis/profile.c ---- */
void session_count_free(struct penta_session *s); /* after the machine is closed */

/* ---- debugger.c ---- */
/* Gives the recorded answer of a call that was made before. Returns false when the call is new. */
bool debugger_repeats(penta_debugger *d, struct answer *out);
/* Called before a new call is answered, and when no host answered it: the machine may be changed next. */
void debugger_asked(penta_debugger *d);
void debugger_waits(penta_debugger *d);
/* Called after the answer to a new call was applied. */
void debugger_answered(penta_debugger *d);

/* ---- record_write.c: the same moments for the record of a run ---- */
void recorder_asked(struct penta_session *s);
void recorder_waits(struct penta_session *s);
void recorder_answered(struct penta_session *s);
/* Writes the last line, with the report of the host. */
bool recorder_ended(struct penta_session *s, const penta_stop *stop, bool json, penta_bytes report,
                    penta_error *err);
void recorder_free(struct recorder *r); /* r may be NULL */
