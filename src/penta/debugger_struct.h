/* The inside of a penta_debugger: snapshots now and then, every answer of the host, watches. */
#pragma once
#include "penta/session_struct.h"

struct debugger_snapshot {
    uint64_t steps, calls;
    penta_buffer bytes;
};

struct recorded_answer {
    uint64_t results[16];
    size_t count;
    penta_buffer pokes;
    penta_buffer effect; /* what the host itself changed in the machine (core/delta.h); or empty */
    uint64_t gas;
    enum call_end end;
};

struct watch; /* watch.c */

struct penta_debugger {
    struct penta_session *session;
    struct debugger_snapshot *snapshots; /* ascending by steps; the first is the start */
    size_t snapshot_count, snapshot_capacity;
    uint64_t interval;               /* steps between snapshots; doubles when they are too many */
    struct recorded_answer *answers; /* of every host call so far, in order */
    size_t answer_count, answer_capacity;
    uint64_t first_call; /* calls of the session before the first of them */
    penta_buffer before; /* the machine at the call that is just being answered, or empty */
    uint64_t furthest;   /* the most steps reached so far; up to there everything is replayed */
    /* The instruction after the last step was tried as well: it trapped, faulted, or waits for an
     * answer that nobody has. The state after `steps` is the one before it. */
    bool beyond;
    penta_error err; /* code 0, or why the history is incomplete */
    uint64_t *marks; /* ascending */
    size_t mark_count, mark_capacity;
    struct watch *watches;
    size_t watch_count, watch_capacity;
    const char *hit; /* the watch that stopped the last run, or NULL */
};

void answers_free(struct recorded_answer *answers, size_t count);

/* ---- watch.c ---- */
void watches_start(struct penta_debugger *d);   /* before a run: what is there now is not new */
bool watches_changed(struct penta_debugger *d); /* after a step; sets hit */
void watches_free(struct penta_debugger *d);
