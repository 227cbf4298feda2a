/* Steps any machine in both directions. It takes snapshots now and then and records the answers of
 * the host: going back loads the last snapshot before the wanted step and runs forward again. */
#pragma once
#include "core/session.h"

struct snapshot {
    uint64_t steps, host_calls;
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

struct debugger {
    struct session *session;
    struct snapshot *snapshots; /* ascending by steps; the first is the start */
    size_t snapshot_count, snapshot_capacity;
    uint64_t interval;               /* steps between snapshots; doubles when they are too many */
    struct recorded_answer *answers; /* of every host call so far, in order */
    size_t answer_count, answer_capacity;
    penta_buffer before; /* the machine at the call that the host is just answering, or empty */
    uint64_t furthest;   /* the most steps reached so far; up to there everything is replayed */
    /* The instruction after the last step was tried as well: it trapped, faulted, or waits for an
     * answer that nobody has. The state after `steps` is the one before it. */
    bool beyond;
    penta_error err; /* code 0, or why the history is incomplete (memory) */
    /* Called for new host calls only, not for replayed ones. */
    void (*called)(void *user, const penta_stop *stop, const struct answer *answer);
    void *user;
};

/* Takes over the session's hooks. The session stays the caller's. */
bool debugger_init(struct debugger *d, struct session *session, penta_error *err);
void debugger_fini(struct debugger *d);

/* Forward by at most n instructions; stops early as session_run does. */
void debugger_forward(struct debugger *d, uint64_t n, penta_stop *stop);
/* To the state after exactly so many steps from the start; breakpoints are passed over. False: that
 * many steps were not reached, and the machine is where it stopped. */
bool debugger_goto(struct debugger *d, uint64_t steps, penta_stop *stop);
