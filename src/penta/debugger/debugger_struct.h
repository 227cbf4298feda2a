/* Defines the struct of a penta_debugger: snapshots at intervals, every answer of the host,
 * watches. */
#pragma once
#include "penta/debug.h"
#include "penta/session_struct.h"
#include "core/debug/expression.h"
#include "core/engine.h"

struct debugger_snapshot {
    uint64_t steps, calls;
    penta_buffer bytes;
};

struct recorded_answer {
    uint64_t results[16];
    size_t count;
    penta_buffer pokes;
    penta_buffer effect; /* what the host itself changed in the machine (core/delta.h), or empty */
    uint64_t gas;
    enum call_end end;
};

struct watch; /* defined in watch.c */
struct point; /* defined in points.c */

/* A change that the user made after `steps` steps. `bytes` is the machine after it. */
struct debugger_edit {
    uint64_t steps;
    penta_buffer bytes; /* a snapshot of the machine */
};

/* The target of next, finish and until: an instruction in a call that is not deeper than this. */
struct debugger_target {
    bool on;
    uint64_t pc, depth;
};

struct penta_debugger {
    struct penta_session *session;
    struct debugger_snapshot *snapshots; /* in the order of their steps; the first is the start */
    size_t snapshot_count, snapshot_capacity;
    size_t snapshot_bytes;
    uint64_t interval; /* the steps between snapshots; doubles when there are too many */
    uint64_t next_snapshot,
        wait; /* the step of the next snapshot, and by how many steps it was postponed last */
    uint64_t saved_at,
        save_time; /* when the last snapshot was saved, and how much processor time that took */
    struct recorded_answer *answers; /* the answers to all host calls so far, in order */
    size_t answer_count, answer_capacity;
    uint64_t first_call; /* how many calls the session had before the first answer */
    penta_buffer before; /* the machine at the call that is being answered, or empty */
    uint64_t furthest;   /* the most steps that have been run; up to there everything is replayed */
    /* Tells whether the instruction after the last step was tried, too: it trapped, faulted, or
     * waits for an answer that no host has. The state after `steps` is the one before that
     * instruction. */
    bool beyond;
    penta_error err; /* the reason why the history is incomplete, or code 0 */
    uint64_t *marks; /* the pcs of marks in ascending order */
    size_t mark_count, mark_capacity;
    struct watch **watches;
    size_t watch_count, watch_capacity;
    const char *hit; /* the watch that stopped the last run, or NULL */
    struct point *points;
    size_t point_count, point_capacity;
    unsigned last_number, stopped_by;
    bool quiet; /* the run is a repetition: it logs nothing and counts no hits */
    penta_log_report *log;
    void *log_user;
    penta_interrupt_ask *ask;
    void *ask_user;
    struct debugger_target target;
    uint64_t limit; /* the most steps to a target; 0 for no limit */
    /* The target that a run did not reach because of the limit. */
    struct debugger_target unfinished;
    uint64_t unfinished_at;
    struct debugger_edit *edits; /* in the order of their steps */
    size_t edit_count, edit_capacity;
};

bool snapshots_take(struct penta_debugger *d);
void snapshots_due(struct penta_debugger *d);    /* Takes a snapshot if it is time for one. */
void snapshots_forget(struct penta_debugger *d); /* Drops the snapshots after this step. */
const struct debugger_snapshot *snapshots_before(const struct penta_debugger *d, uint64_t step);
void snapshots_free(struct penta_debugger *d);

/* These functions do what penta_debugger_forward and penta_debugger_goto do, without an error
 * argument. */
void debugger_forward(struct penta_debugger *d, uint64_t n, penta_stop *stop);
bool debugger_go_to(struct penta_debugger *d, uint64_t step, penta_stop *stop);
bool debugger_whole_history(struct penta_debugger *d, penta_error *err);
/* Sets or clears the breakpoint of the machine at pc, as marks, points and the target need it.
 * Returns false when no instruction is there. */
bool debugger_sync_mark(struct penta_debugger *d, uint64_t pc);
/* Tells whether a mark, a point or the target wants a stop at the next instruction, which is the one at pc. */
bool debugger_stops_at(struct penta_debugger *d, uint64_t pc);
uint64_t debugger_pc(const struct penta_debugger *d); /* Returns the pc of the next instruction. */
bool debugger_has_mark(const struct penta_debugger *d, uint64_t pc);

/* Does what penta_vm_value does. */
bool vm_value(const penta_vm *vm, const char *path, struct writer *out);
struct expression_scope vm_scope(const penta_vm *vm);
bool vm_set(penta_vm *vm, const char *what, const penta_value *value, penta_error *err);

bool points_want(const struct penta_debugger *d,
                 uint64_t pc); /* Tells whether a point is a break at pc. */
/* Goes through the watches of points as watch_next does. */
struct watch *points_watch_next(const struct penta_debugger *d, size_t *i);
void points_start(struct penta_debugger *d);
bool points_stop_at(struct penta_debugger *d,
                    uint64_t pc);          /* Tells whether a break at pc stops the run. */
bool points_met(struct penta_debugger *d); /* Tells whether a watch of a point stops the run
                                            * after a step. */
/* Removes the points that stop only once, after they did. */
void points_ended(struct penta_debugger *d);
void points_free(struct penta_debugger *d);

struct watch *watch_new(const penta_vm *vm, penta_point_kind kind, const char *what,
                        penta_error *err);
void watch_start(const penta_vm *vm, struct watch *w);
bool watch_changed(const penta_vm *vm, struct watch *w, penta_error *err);
/* Tells whether the watched value changed in the last step. */
bool watch_met(const penta_vm *vm, struct watch *w, penta_error *err);
void watch_free(struct watch *w);
/* Keeps the current values as the old ones. It is called before a run. */
void watches_start(struct penta_debugger *d);
bool watches_met(struct penta_debugger *d); /* Tells whether a watch stops the run after a step,
                                             * and sets `hit`. */
void watches_free(struct penta_debugger *d);
/* Goes through all watches, also those of points. *i starts from 0. Returns NULL when there are
 * no more. */
struct watch *watch_next(const struct penta_debugger *d, size_t *i);
bool watches_want(const struct penta_debugger *d,
                  uint64_t pc); /* Tells whether a watched value may be accessed at pc. */
void watch_sync(struct penta_debugger *d,
                const struct watch *w); /* Sets the marks of the watch in the machine. */

struct watching {    /* How a run finds accesses to watches. */
    bool every_step; /* Watches are checked after every step, because one has no known place. */
    bool marks;      /* Instructions that may access a watched value are marked. */
    bool hit;        /* The run stopped for a guard. */
    struct guard guards[GUARDS_MAX];
    struct watch *watches[GUARDS_MAX]; /* the watch of each guard */
    size_t count;
};
struct watching watching_start(struct penta_debugger *d);
void watching_arm(struct penta_debugger *d, struct watching *g, bool on);
void watching_note(struct penta_debugger *d,
                   uint64_t pc); /* Notes what the next instruction, at pc, does. */
