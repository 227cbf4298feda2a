/* Scenarios: calls of public functions, tried with every single allocation refused. */
#pragma once
#include "hook.h"
#include "penta/session.h"
#include "support.h"

/* What a scenario came to. Refusing an allocation must leave it as it is undisturbed, or make it
 * fail with the code of memory that ran out. */
struct outcome {
    bool ok;
    uint32_t code; /* of the error; of findings the first error, or that of memory */
    uint64_t hash; /* of all that was given out */
};

/* Each folds what a call gave into the outcome and returns ok. */
bool outcome_ok(struct outcome *o, bool ok, const penta_error *err);
void outcome_bytes(struct outcome *o, const void *data, size_t size);
void outcome_buffer(struct outcome *o, penta_buffer *buffer); /* and frees it */
void outcome_stop(struct outcome *o, const penta_stop *stop);
void outcome_finding(void *outcome, const penta_error *finding); /* a penta_report */
void outcome_link_finding(void *outcome, const char *object, const penta_error *finding);

typedef void scenario_fn(const void *given, struct outcome *out);
void scenario(const char *name, scenario_fn *fn, const void *given);
/* Some libraries crash or end the process when memory runs out (json-c, libdw): then only requests
 * of our own code are refused. */
void libraries_take_no(bool yes);

/* Why a host did not answer, if it did not. */
void outcome_failure(struct outcome *o, const penta_session *s);

/* One file of any format, and the machine to run it on. */
struct subject {
    penta_bytes file;
    const char *format;
    const penta_module *module;
    penta_bytes text; /* its listing */
    const char *engine;
    const penta_option *options;
    size_t count;
};

/* A session of the file, made with all the memory that it wants. NULL: the outcome says why there is none. */
penta_session *subject_session(const struct subject *g, const char *engine, struct outcome *o);

void code_scenarios(const struct subject *g);    /* places, structure, sizes, report */
void profile_scenarios(const struct subject *g); /* counts, samples, coverage */
void session_scenarios(const struct subject *g); /* answers, snapshots, points, expressions */
void general_scenarios(penta_bytes file, const char *format);
void text_scenarios(penta_bytes text, const char *format, const penta_option *options,
                    size_t count);
void list_scenarios(void);
void cvbc_scenarios(void);
void pvm_scenarios(void);
void jam_scenarios(void);
void tvmr_scenarios(void);
void coil_scenarios(void);

penta_module *tree_assembled(const char *path, const char *format);
