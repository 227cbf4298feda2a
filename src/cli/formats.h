/* What the folder of a format adds to the commands for all formats. Where a file is of another format, these do
 * nothing. */
#pragma once
#include "cli/cli.h"

/* Whether the command may use a module that was opened, as far as options of its format decide; an error has been
 * reported when not. */
bool format_accepts(struct cli *c, const char *name, const penta_module *module);
/* The same for a file that the command does not open itself. */
bool format_accepts_file(struct cli *c, const struct input *in);
/* Warns about what penta seal made. */
void format_sealed(struct cli *c, const char *name, penta_bytes made);
/* Compiles a source that is not for coil. */
void format_compile(struct cli *c, struct input *source);
/* Returns a hint at an option that the user seems to have forgotten, from how the run ended; or NULL. */
const char *format_hint(const struct cli *c, const penta_module *module, const penta_stop *stop);
