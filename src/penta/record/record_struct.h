/* Defines the structs of penta/record.h: a recorded run in memory, and the member names of its
 * lines, which writer and reader share. */
#pragma once
#include "penta/debugger/debugger_struct.h"
#include "penta/record.h"

/* Version 2 has host changes and repeats. */
enum { RECORD_VERSION = 2 };
/* A round of repeated calls has at most this many. */
enum { RECORD_ROUND_MAX = 8 };

extern const char *const record_ends[]; /* the names of enum call_end, with NULL after the last */

struct recorded_call {
    /* The steps of `stop` are those of the session after the call; UINT64_MAX when they are not
     * counted. */
    penta_stop stop;
    char *name; /* the name of the call, or NULL */
    struct recorded_answer answer;
    bool between;
    penta_buffer host_change; /* what the host changed before its results were applied, or empty */
    penta_buffer output, errors, note;
};

/* A repeat: the calls before it, `round` of them, were made again, `times` times. */
struct record_repeat {
    size_t after;   /* number of entries of `calls` before it */
    size_t round;   /* number of entries that it repeats */
    uint64_t first; /* number of the first repeated call among all calls, counted from 0 */
    uint64_t times; /* number of rounds */
    uint64_t steps; /* number of steps from one round to the next */
};

struct penta_record {
    char *format;
    uint64_t program; /* the hash of the program's file */
    uint64_t step;    /* the step at which the record begins */
    bool console;
    penta_option *options; /* The keys and values belong to the record. */
    size_t option_count, option_capacity;
    penta_buffer state; /* a snapshot of the machine at the beginning */
    struct recorded_call *calls;
    size_t count, capacity;
    struct record_repeat *repeats; /* sorted by place */
    size_t repeat_count, repeat_capacity;
    uint64_t repeated;   /* number of calls in all repeats */
    bool changes;        /* An answer has an effect besides results and memory writes. */
    bool ended;          /* The record has its last line. */
    penta_stop end;      /* The steps of `end` are those of the session at the end. */
    penta_buffer report; /* what the host reported at the end, as text or as a JSON object */
    bool report_is_json;
};

uint64_t record_program(const penta_module *module);

/* Finds the effect of a call in the form of core/delta.h, against a snapshot from before the
 * call. */
bool effect_find(const penta_vm *vm, penta_bytes before, penta_buffer *effect, penta_error *err);
bool effect_apply(penta_vm *vm, penta_bytes effect, penta_error *err);

/* Returns how many calls the record has, with the repeated ones. */
uint64_t record_call_count(const penta_record *record);
/* Finds call i of all calls, and the number of steps after it, UINT64_MAX if it is not known. */
const struct recorded_call *record_call_at(const penta_record *record, uint64_t i, uint64_t *steps);

/* effect.c defines the three functions below. They find what a host itself changed, as the
 * difference of two states without what a machine keeps only to run faster. The difference is
 * applied before the results of the call. */
bool effect_host_state(const penta_vm *vm, penta_buffer *state, penta_error *err);
bool effect_host_find(const penta_vm *vm, penta_bytes before, penta_buffer *change,
                      penta_error *err);
bool effect_host_apply(penta_vm *vm, penta_bytes change, penta_error *err);
