/* The default host of a format answers what a machine asks with STOP_HOST. An answer is a value: the caller applies
 * it to the machine, logs it, and can apply it again. A debugger goes backwards over host calls by applying recorded
 * answers. */
#pragma once
#include "base/arena.h"
#include "core/engine.h"
struct json; /* defined in base/json/json_write.h */

struct answer {
    uint64_t results[16];
    size_t count;
    struct writer pokes;  /* writes to memory, each {u64 address, u64 size, bytes}, little-endian */
    struct writer output; /* what the program printed */
    struct writer errors; /* what the program printed to standard error, if it has one */
    /* A line about the call and its answer, when the host can describe it better than the
     * default line. */
    struct writer note;
    uint64_t gas;      /* the gas that the machine is charged */
    enum call_end end; /* tells how the call of the program ends */
    bool between; /* The answer belongs to no call, but is the host's own work between two calls. */
    bool applied; /* The machine is already in the state after the answer. */
    penta_error failure; /* the reason why the call cannot be answered */
    /* The host was interrupted before it had an answer and must be asked again. */
    bool interrupted;
};

/* What a host gives before its machine is opened. */
struct started_host {
    void *state; /* the state from which `open` continues; may be NULL */
    /* Options for the machine. They come before those of the caller, which therefore override them. */
    penta_option options[4];
    size_t count;
    struct arena texts; /* has the values of the options; the caller of `start` frees it */
};

/* The files of a program, if its host has files. Paths are the program's own. */
struct host_files {
    /* Makes a file, with the folders on the way to it, or gives it other bytes. */
    bool (*put)(void *state, const char *path, penta_bytes bytes, penta_error *err);
    bool (*get)(void *state, const char *path, struct writer *out, penta_error *err);
    /* Writes the files that are in memory, as members of the open JSON list. */
    bool (*list)(void *state, struct json *json, penta_error *err);
};

/* What a host tells about itself when it is opened. */
struct opened_host {
    void *state; /* the state of the host, which may be NULL; before `open` it is the state that
                * `start` left */
    /* Answers change the machine in ways that struct answer does not have. A replay then needs
     * snapshots from before and after an answer. */
    bool changes_machine;
    /* The program is one for a console: what it prints is its result, and the value of its HALT
     * (args[0] of the stop) is its exit code. */
    bool console;
    const struct host_files *files; /* NULL when the host has no files */
    /* Writes what option 'save-state' stores after the last call. Returns NULL when the host has
     * no such state. */
    bool (*save)(void *state, struct writer *out, penta_error *err);
    /* Writes what the host has to report at the end of a run, as lines of text or as members of
     * the open JSON object; one of the two is NULL. The entry is NULL when the host has nothing
     * to report. */
    bool (*finish)(void *state, penta_vm *vm, const penta_stop *stop, struct writer *text,
                   struct json *json, penta_error *err);
};

struct host {
    /* Prepares the host that the options choose, if the machine's start depends on it. The state
     * in `out` goes to `open` or to `close`. Returns false with an error and no state. The entry
     * is NULL when no host of the format needs it. */
    bool (*start)(const penta_module *module, const penta_option *options, size_t count,
                  struct started_host *out, penta_error *err);
    /* Opens the host for this machine, before its first run. Returns false with an error and no
     * state. */
    bool (*open)(penta_vm *vm, const penta_option *options, size_t count, struct opened_host *out,
                 penta_error *err);
    /* Answers the call at which the machine stopped. Returns false when the host cannot answer
     * it. */
    bool (*answer)(void *state, penta_vm *vm, const penta_stop *stop, struct answer *out);
    void (*close)(void *state);
};

void answer_poke(struct answer *a, uint64_t address, penta_bytes bytes);
void answer_clear(struct answer *a);
void answer_free(struct answer *a);
/* Checks that no part of the answer is missing. Returns false when memory ran out for a part. */
bool answer_whole(const struct answer *a, penta_error *err);
/* Applies the writes, results, gas and end of an answer to the machine. */
bool answer_apply(const struct answer *a, penta_vm *vm, penta_error *err);
