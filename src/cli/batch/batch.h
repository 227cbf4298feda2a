/* penta batch: the coordinator's command line, and the worker, which is the tool itself as
 * libpenta_batch starts it. */
#pragma once
#include "cli/cli.h"
#include "penta/batch.h"

/* "penta batch-worker KEY=VALUE... -- VERB OPTIONS...": no command for people. Returns the exit
 * code. */
int batch_worker(int argc, char **argv);

/* How a verb is run for one source. */
extern const struct batch_verb {
    enum command command;
    bool makes_file; /* it is for a file that it writes: refused without --files-to */
    bool
        writes_result; /* -o is for its result, which has this suffix; "": none; NULL: that of the format's text */
    const char *suffix;
} batch_verbs[];
/* NULL: the command is no verb of a batch. */
const struct batch_verb *batch_verb_find(enum command command);
/* Whether these options make sense in a batch; an error has been reported on `c` when not.
 * `parsed` is the verb's own command line. */
bool batch_options_allowed(struct cli *c, const struct cli *parsed);
/* The verb's own command line with --json and one word: *parsed is filled, for cli_parse_free.
 * Errors are in its diagnostics when false. `grid`: options "rate=1,epochs=2", or NULL. argv
 * owns what *parsed points to, for free. */
bool batch_verb_parse(struct cli *parsed, const char *verb, const char *const *options,
                      size_t count, const char *grid, char ***argv);
