/* Defines the struct of penta/session.h, which session, log, trace and debugger share. */
#pragma once
#include "base/writer.h"
#include "core/driver.h"
#include "core/host.h"
#include "penta/session.h"

struct counts;   /* defined in core/structure/counts.h */
struct samples;  /* defined in penta/analysis/samples.h */
struct code_map; /* defined in core/structure/code_map.h */

struct penta_session {
    const penta_module *module;
    penta_vm *vm;
    const struct host *host; /* NULL when the format has none */
    struct opened_host opened;
    uint64_t steps, calls;
    penta_error failure; /* the reason why an answer could not be given or applied, or code 0 */

    penta_stop stop;      /* the host call that is being answered or waits for an answer */
    bool waits;           /* The session waits for penta_session_answer. */
    struct answer answer; /* the answer to the host call in `stop` */
    bool stop_at_calls;
    bool repeats; /* true if the answers come from a record */
    penta_host_call *ask;
    void *ask_user;
    penta_call_report *report;
    void *report_user;
    penta_debugger *debugger;  /* the debugger of the session, or NULL */
    struct recorder *recorder; /* NULL when the run is not recorded */
    struct counts *counts;     /* the counts of an interpreter for a profile, or NULL */
    struct samples *samples;   /* the samples of compiled code for a profile, or NULL */
    struct code_map *code_map;

    struct writer output, errors, log; /* what the program printed and the log, for callers
                                        * without a callback */
    size_t log_left;                   /* how many calls the log still takes */
    bool log_json;
};

/* Makes a session. `host` answers its calls; it may be NULL. */
penta_session *session_new(const penta_module *module, const char *engine,
                           const penta_option *options, size_t count, const volatile int *stop,
                           const struct host *host, penta_error *err);

/* Tells the log and the callbacks of the call, and keeps what it printed. */
void session_tell(struct penta_session *s, bool answered);

void session_count_free(struct penta_session *s); /* The machine must be closed before. */

/* Gives the recorded answer of a call that was made before. Returns false when the call is new. */
bool debugger_repeats(penta_debugger *d, struct answer *out);
/* Must be called before a new call is answered, and when no host answered it, because the
 * machine may be changed next. */
void debugger_asked(penta_debugger *d);
void debugger_waits(penta_debugger *d);
/* Must be called after the answer to a new call was applied. */
void debugger_answered(penta_debugger *d);

void recorder_asked(struct penta_session *s);
void recorder_waits(struct penta_session *s);
/* Called before the results of a call are applied, after its host may have changed the machine. */
void recorder_answers(struct penta_session *s);
void recorder_answered(struct penta_session *s);
/* Writes the last line of the record, with the report of the host. */
bool recorder_ended(struct penta_session *s, const penta_stop *stop, bool json, penta_bytes report,
                    penta_error *err);
void recorder_free(struct recorder *r); /* r may be NULL */
