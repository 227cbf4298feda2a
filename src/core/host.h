/* The default host of a format: it answers what STOP_HOST asks. What it does to the machine is an
 * answer, a value that the caller applies, logs, and can apply again: replay is feeding the
 * recorded answers, so a debugger can go backwards over host calls. */
#pragma once
#include "base/writer.h"

struct answer {
    uint64_t results[16];
    size_t count;
    struct writer pokes;  /* memory writes: {u64 address, u64 size, bytes} each, host order */
    struct writer output; /* what the program printed */
    struct writer errors; /* and what it printed to standard error, where it has one */
    bool direct;          /* the host changed the machine itself: snapshot instead of replaying */
};

struct host {
    /* False with an error; the state may be anything, also NULL. */
    bool (*open)(const penta_module *module, const penta_option *options, size_t count,
                 void **state, penta_error *err);
    /* False: it cannot answer this one. */
    bool (*answer)(void *state, penta_vm *vm, const penta_stop *stop, struct answer *out);
    void (*close)(void *state);
    /* The program is one for a console: what it prints is its result, and the value of its HALT
     * (args[0] of the stop) is its exit code. NULL: none is. */
    bool (*console)(void *state);
    /* Every reason why it would not serve this module; open names the first. May be NULL. */
    void (*check)(const penta_module *module, const penta_option *options, size_t count,
                  struct findings *findings);
};

void answer_poke(struct answer *a, uint64_t address, penta_bytes bytes);
void answer_clear(struct answer *a);
void answer_free(struct answer *a);
/* Pokes and results into the machine. */
bool answer_apply(const struct answer *a, penta_vm *vm, penta_error *err);
