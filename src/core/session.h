/* A machine together with its host: runs until a stop that the host cannot answer. */
#pragma once
#include "core/driver.h"
#include "core/host.h"

struct session {
    const penta_module *module;
    penta_vm *vm;
    const struct host *host; /* NULL: nobody answers */
    void *host_state;
    struct answer answer; /* to the last host call */
    uint64_t steps;       /* instructions executed so far */
    uint64_t host_calls;  /* answered so far */
    penta_error failure;  /* code 0, or why an answer could not be applied */
    /* Called for every answered call, and with answer NULL for one that nobody could answer. */
    void (*called)(void *user, const penta_stop *stop, const struct answer *answer);
    /* Asked before the host, for replay: true when it filled the answer. */
    bool (*recorded)(void *user, const penta_stop *stop, struct answer *answer);
    void *user;
};

bool session_open(struct session *s, const penta_module *module, const char *engine,
                  const penta_option *options, size_t count, penta_error *err);
void session_close(struct session *s);
/* At most fuel instructions; UINT64_MAX: no limit. stop->steps counts those of this call. */
void session_run(struct session *s, uint64_t fuel, penta_stop *stop);

const char *stop_kind_name(penta_stop_kind kind);                         /* "halt" */
const char *stop_detail_name(const penta_vm *vm, const penta_stop *stop); /* "SLEEP" or NULL */
