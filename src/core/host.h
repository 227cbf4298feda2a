/* The default host of a format answers what a machine asks with STOP_HOST. An answer is a value: the caller applies
 * it to the machine, logs it, and can apply it again. A debugger goes backwards over host calls by applying recorded
 * answers. */
#pragma once
#include "base/arena.h"
#include "core/engine.h"
struct json; /* base/json/json_write.h */

struct answer {
    uint64_t results[16];
    size_t count;
    struct writer pokes;  /* writes to memory, each {u64 address, u64 size, bytes}, little-endian */
    struct writer output; /* what the program printed */
    struct writer errors; /* what the program printed to standard error, if it has one */
    /* A line about the call and its answer, when the host can say it better than the default. */
    struct writer note;
    uint64_t gas;      /* the gas that the machine is charged */
    enum call_end end; /* how the call of the program ends */
    bool between; /* the answer belongs to no call: it is the host's own work between two calls */
    bool applied; /* the machine is already in the state after the answer */
    penta_error failure; /* why the call cannot be answered */
    /* The host was interrupted before it had an answer and is to be asked again. */
    bool interrupted;
};

/* What a host gives before its machine is opened. */
struct started_host {
    void *state; /* what `open` goes on with; may be NULL */
    /* Options for the machine. They come before those of the caller, which therefore override them. */
    penta_option options[4];
    size_t count;
    struct arena texts; /* holds the values of the options; whoever called `start` frees it */
};

/* The program's files, where a host has some. Paths are the program's own. */
struct host_files {
    /* Makes a file, with the folders on the way to it, or gives it other bytes. */
    bool (*put)(void *state, const char *path, penta_bytes bytes, penta_error *err);
    bool (*get)(void *state, const char *path, struct writer *out, penta_error *err);
    /* Writes the files that lie in memory, as members of the open JSON list. */
    bool (*list)(void *state, struct json *json, penta_error *err);
};

/* What a host tells about itself when it is opened. */
struct opened_host {
    void *
        state; /* the state of the host, which may be NULL; before `open` it is what `start` left */
    /* Whether answers change the machine in ways that struct answer does not hold. A replay then needs snapshots from
     * before and after an answer. */
    bool changes_machine;
    /* Whether the program is one for a console: what it prints is its result, and the value of its HALT (args[0] of the
     * stop) is its exit code. */
    bool console;
    const struct host_files *files; /* NULL: the host has no files */
    /* Writes what option 'save-state' stores after the last call. NULL when the host has no such state. */
    bool (*save)(void *state, struct writer *out, penta_error *err);
    /* Writes what the host has to tell at the end of a run, as lines of text or as members of the open JSON object; one
     * of the two is NULL. The entry is NULL when there is nothing to tell. */
    bool (*finish)(void *state, penta_vm *vm, const penta_stop *stop, struct writer *text,
                   struct json *json, penta_error *err);
};

struct host {
    /* Prepares the host that the options choose, where the machine's start depends on it. What it leaves in `out` goes
     * to `open` or to `close`. False with an error, and then no state is left. NULL when no host of the format needs
     * it. */
    bool (*start)(const penta_module *module, const penta_option *options, size_t count,
                  struct started_host *out, penta_error *err);
    /* Opens the host for this machine, before its first run. False with an error, and then no state is left. */
    bool (*open)(penta_vm *vm, const penta_option *options, size_t count, struct opened_host *out,
                 penta_error *err);
    /* Answers the call at which the machine stopped. False when the host cannot answer it. */
    bool (*answer)(void *state, penta_vm *vm, const penta_stop *stop, struct answer *out);
    void (*close)(void *state);
};

void answer_poke(struct answer *a, uint64_t address, penta_bytes bytes);
void answer_clear(struct answer *a);
void answer_free(struct answer *a);
/* Checks that no part of the answer is missing. False when memory ran out for one. */
bool answer_whole(const struct answer *a, penta_error *err);
/* Applies the writes, results, gas and end of an answer to the machine. */
bool answer_apply(const struct answer *a, penta_vm *vm, penta_error *err);
