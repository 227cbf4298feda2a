/* Traces a run: a line for each instruction with the step, the pc, the instruction and what it
 * changed, which is found by comparing the described state before and after. */
#pragma once
#include "cli/cli.h"
#include "core/views/changes.h"
#include "core/session.h"

struct tracer {
    struct session *session;
    struct writer *out; /* lines of text or of JSON objects */
    bool json;
    uint64_t from;        /* the first step to show */
    uint64_t count;       /* lines at most */
    const char *match;    /* text that the instruction must contain, or NULL */
    uint64_t shown;       /* lines so far */
    struct changes state; /* as it was after the step before */
    struct writer insn;
    void (*line)(void *user, penta_bytes line); /* instead of out, when set */
    void *user;
};

void tracer_run(struct tracer *t, uint64_t fuel, penta_stop *stop);
void tracer_fini(struct tracer *t);
