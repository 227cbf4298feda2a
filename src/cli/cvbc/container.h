/* Declares what the commands for CockpitVM containers share. */
#pragma once
#include "cli/cli.h"
#include "penta/cvbc.h"

/* Opens a file as input_open does, for commands of this format. A damaged file is reported and
 * refused. */
bool container_open(struct cli *c, const char *name, struct input *in);
/* Tells whether the command may use a file under --require-signature. Returns false when an
 * error has been reported. A file of another format has no signature. verify and validate report
 * the reason themselves, and sign adds the missing signature. */
bool container_accepted(struct cli *c, const char *name, const penta_module *module);
/* Does what container_accepted does, for a file that the command does not open itself. */
bool container_acceptable(struct cli *c, const struct input *in);
/* Returns the last value of an option of the format, or NULL. */
const char *container_option(const struct cli *c, const char *key);
void container_compile(struct cli *c, struct input *in); /* Compiles a source. */
/* Warns when a container that was made opens only with the option 'max-iterations'. */
void container_rounds_warn(struct cli *c, const char *name, penta_bytes made);
bool is_rule(const penta_error *err, const char *name); /* Tells whether the error is of this
                                                         * rule of the format. */
