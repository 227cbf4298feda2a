/* Declares scenarios: calls of public functions, tried with every single allocation refused. */
#pragma once
#include "hook.h"
#include "penta/session.h"
#include "support.h"

/* The result of a scenario. A refused allocation must leave it as it is undisturbed, or make it
 * fail with the code of memory that ran out. */
struct outcome {
    bool ok;
    uint32_t code; /* the code of the error; of findings that of the first error, or of memory */
    uint64_t hash; /* the hash of everything that the calls returned */
};

/* Each of these functions folds what a call gave into the outcome and returns ok. */
bool outcome_ok(struct outcome *o, bool ok, const penta_error *err);
void outcome_bytes(struct outcome *o, const void *data, size_t size);
void outcome_buffer(struct outcome *o, penta_buffer *buffer); /* Also frees the buffer. */
void outcome_stop(struct outcome *o, const penta_stop *stop);
void outcome_finding(void *outcome, const penta_error *finding); /* Is a penta_report. */
void outcome_link_finding(void *outcome, const char *object, const penta_error *finding);

typedef void scenario_fn(const void *given, struct outcome *out);
void scenario(const char *name, scenario_fn *fn, const void *given);
/* Refuses only requests of penta's own code when `yes` is set. Some libraries crash or end the
 * process when memory runs out (json-c, libdw). */
void libraries_take_no(bool yes);

/* Adds why a host did not answer, if it did not. */
void outcome_failure(struct outcome *o, const penta_session *s);

/* A file of any format, and the machine to run it on. */
struct subject {
    penta_bytes file;
    const char *format;
    const penta_module *module;
    penta_bytes text; /* the listing of the file */
    const char *engine;
    const penta_option *options;
    size_t count;
};

/* Makes a session of the file with all the memory that it wants. When it returns NULL, the
 * outcome tells why. */
penta_session *subject_session(const struct subject *g, const char *engine, struct outcome *o);

void code_scenarios(const struct subject *g);    /* tests places, structure, sizes, report */
void profile_scenarios(const struct subject *g); /* tests counts, samples, coverage */
void session_scenarios(const struct subject *g); /* tests answers, snapshots, points, expressions */
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
