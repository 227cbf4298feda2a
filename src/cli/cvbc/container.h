/* What the commands for CockpitVM containers share. */
#pragma once
#include "cli/cli.h"
#include "penta/cvbc.h"

/* As input_open, for commands of this format. A damaged file is reported and refused. */
bool container_open(struct cli *c, const char *name, struct input *in);
/* Whether the command may use a file under --require-signature; an error has been reported when not. A file of
 * another format has none; verify and validate tell the reason themselves, and sign also puts in the signature that
 * is missing. */
bool container_accepted(struct cli *c, const char *name, const penta_module *module);
/* The same for a file that the command does not open itself. */
bool container_acceptable(struct cli *c, const struct input *in);
/* The last value of an option of the format, or NULL. */
const char *container_option(const struct cli *c, const char *key);
void container_compile(struct cli *c, struct input *in); /* a source */
/* Warns when the container that was made is not opened without the option 'max-iterations'. */
void container_rounds_warn(struct cli *c, const char *name, penta_bytes made);
bool is_rule(const penta_error *err, const char *name); /* of this format */
