/* Declares the command line of penta batch, and the worker, which is the tool itself as
 * libpenta_batch starts it. */
#pragma once
#include "cli/cli.h"
#include "penta/batch.h"

/* Runs "penta batch-worker KEY=VALUE... -- VERB OPTIONS...", which is no command for people.
 * Returns the exit code. */
int batch_worker(int argc, char **argv);

/* A verb of a batch, and how it is run for one source. */
extern const struct batch_verb {
    enum command command;
    bool makes_file;    /* The verb is for a file that it writes, so it is refused without
                      * --files-to. */
    bool writes_result; /* -o is for the result of the verb, which has this suffix; "" for none,
                        * NULL for that of the format's text */
    const char *suffix;
} batch_verbs[];
/* Returns NULL when the command is no verb of a batch. */
const struct batch_verb *batch_verb_find(enum command command);
/* Tells whether these options make sense in a batch. Returns false when an error has been
 * reported on `c`. `parsed` is the verb's own command line. */
bool batch_options_allowed(struct cli *c, const struct cli *parsed);
/* Parses the verb's own command line with --json and one word. It fills *parsed, which
 * cli_parse_free frees. Returns false with errors in its diagnostics. `grid` is options such as
 * "rate=1,epochs=2", or NULL. *argv owns the memory that *parsed uses, and the caller frees it. */
bool batch_verb_parse(struct cli *parsed, const char *verb, const char *const *options,
                      size_t count, const char *grid, char ***argv);
