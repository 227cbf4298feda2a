/* A runner of PVM vectors is this library, or another implementation that uses the line protocol
 * of docs/conform-protocol.md. The forms in pvm.c know only this interface. */
#pragma once
#include "base/writer.h"

struct pvm_outcome_seen {
    char status[16]; /* one of halt, panic, page-fault, out-of-gas, ecalli */
    uint64_t gas, pc, regs[13];
    uint64_t fault; /* for page-fault: the address of the page */
    uint64_t host;  /* for ecalli: the number of the host call */
};

struct pvm_case {
    const char *name, *isa, *gas_model, *profile;
    penta_bytes program; /* a generic PVM program */
    uint64_t pc, gas;
};

/* All functions return false and set *err if they fail. The code BASE_UNSUPPORTED means that the
 * case is skipped. */
struct pvm_runner {
    void *state;
    bool (*start)(void *state, const struct pvm_case *c, penta_error *err);
    bool (*map)(void *state, uint64_t address, uint64_t length, bool writable, penta_error *err);
    bool (*write)(void *state, uint64_t address, penta_bytes bytes, penta_error *err);
    bool (*set_reg)(void *state, unsigned reg, uint64_t value, penta_error *err);
    bool (*run)(void *state, struct pvm_outcome_seen *out, penta_error *err);
    bool (*read)(void *state, uint64_t address, uint8_t *into, size_t size, penta_error *err);
    bool (*cost)(void *state, uint32_t pc, uint64_t *cost, penta_error *err);
    void (*close)(void *state);
};

/* Makes a runner that uses this library. `engine` is NULL for the default engine. */
bool pvm_runner_local(struct pvm_runner *out, const char *engine, penta_error *err);
bool pvm_runner_exec(struct pvm_runner *out, const char *command, penta_error *err);
