/* Defines the structs of penta/record.h: a recorded run in memory, and the member names of its
 * lines, which writer and reader share. */
#pragma once
#include "penta/debugger/debugger_struct.h"
#include "penta/record.h"

enum { RECORD_VERSION = 1 };

extern const char *const record_ends[]; /* the names of enum call_end, with NULL after the last */

struct recorded_call {
    /* The steps of `stop` are those of the session after the call; UINT64_MAX when they are not
     * counted. */
    penta_stop stop;
    char *name; /* the name of the call, or NULL */
    struct recorded_answer answer;
    bool between;
    penta_buffer output, errors, note;
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
