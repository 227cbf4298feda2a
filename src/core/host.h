/* The default host of a format: it answers what STOP_HOST asks. Its effect on the machine is an
 * answer, a value that the caller applies, logs and can apply again. A debugger goes backwards over
 * host calls by applying recorded answers. */
#pragma once
#include "core/engine.h"
struct json; /* base/json/json_write.h */

struct answer {
    uint64_t results[16];
    size_t count;
    struct writer pokes;  /* memory writes: {u64 address, u64 size, bytes} each, little-endian */
    struct writer output; /* what the program printed */
    struct writer errors; /* and what it printed to standard error, where it has one */
    struct writer note;   /* the call and its answer as a line, where the host can say it better */
    uint64_t gas;         /* that the machine is charged */
    enum call_end end;    /* what becomes of the program's call */
    bool between;         /* no call of the program: the host's own work between two of them */
    bool applied;         /* the machine is already in the state after the answer */
    penta_error failure;  /* why the call cannot be answered */
    bool interrupted;     /* before there was an answer: ask again later */
};

/* What a host says of itself when it is opened. */
struct opened_host {
    void *state; /* its own; may be NULL */
    /* Its answers change the machine in ways that a struct answer does not hold, so that replay
     * needs the machine from before and after. */
    bool changes_machine;
    /* The program is one for a console: what it prints is its result, and the value of its HALT
     * (args[0] of the stop) is its exit code. */
    bool console;
    /* What option 'save-state' stores after the last call. NULL: there is no such state. */
    bool (*save)(void *state, struct writer *out, penta_error *err);
    /* What the host has to tell at the end of a run, as lines of text or as members of the open
     * JSON object; one of them is NULL. NULL: nothing. */
    bool (*finish)(void *state, penta_vm *vm, const penta_stop *stop, struct writer *text,
                   struct json *json, penta_error *err);
};

struct host {
    /* For this machine, before its first run. False with an error. */
    bool (*open)(penta_vm *vm, const penta_option *options, size_t count, struct opened_host *out,
                 penta_error *err);
    /* False: it cannot answer this one. */
    bool (*answer)(void *state, penta_vm *vm, const penta_stop *stop, struct answer *out);
    void (*close)(void *state);
};

void answer_poke(struct answer *a, uint64_t address, penta_bytes bytes);
void answer_clear(struct answer *a);
void answer_free(struct answer *a);
/* False: memory ran out for a part of it. */
bool answer_whole(const struct answer *a, penta_error *err);
/* Applies pokes, results, gas and end to the machine. */
bool answer_apply(const struct answer *a, penta_vm *vm, penta_error *err);
