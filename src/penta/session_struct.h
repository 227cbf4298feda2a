/* The inside of penta/session.h: what session, log, trace and debugger share. */
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
    const struct host *host; /* NULL: the format has none */
    struct opened_host opened;
    uint64_t steps, calls;
    penta_error failure; /* code 0, or why an answer could not be given or applied */

    penta_stop stop;      /* the host call that is being answered, or waits */
    bool waits;           /* for penta_session_answer */
    struct answer answer; /* to it */
    bool stop_at_calls;
    penta_host_call *ask;
    void *ask_user;
    penta_call_report *report;
    void *report_user;
    penta_debugger *debugger;  /* or NULL */
    struct recorder *recorder; /* or NULL: nobody writes the run down */
    struct counts *counts;     /* of the interpreter, for a profile; or NULL */
    struct samples *samples;   /* of compiled code, for a profile; or NULL */
    struct code_map *code_map;

    struct writer output, errors, log; /* kept for who has no callback */
    size_t log_left;                   /* calls that it still takes */
    bool log_json;
};

/* ---- session.c ---- */
/* A session without a host. */
penta_session *session_new(const penta_module *module, const char *engine,
                           const penta_option *options, size_t count, const volatile int *stop,
                           penta_error *err);

/* ---- session_log.c ---- */
/* Tells whoever wants to know of the call, and keeps what it printed. */
void session_tell(struct penta_session *s, bool answered);

/* ---- analysis/profile.c ---- */
void session_count_free(struct penta_session *s); /* after the machine is closed */

/* ---- debugger.c ---- */
/* A call that was made before: gives its recorded answer. False: it is new. */
bool debugger_repeats(penta_debugger *d, struct answer *out);
/* Before a new call is answered, and when nobody answered it: the machine may be changed next. */
void debugger_asked(penta_debugger *d);
void debugger_waits(penta_debugger *d);
/* After the answer to a new call was applied. */
void debugger_answered(penta_debugger *d);

/* ---- record_write.c: the same moments for the record of a run ---- */
void recorder_asked(struct penta_session *s);
void recorder_waits(struct penta_session *s);
void recorder_answered(struct penta_session *s);
/* The last line, with what the host told. */
bool recorder_ended(struct penta_session *s, const penta_stop *stop, bool json, penta_bytes report,
                    penta_error *err);
void recorder_free(struct recorder *r); /* NULL is fine */
