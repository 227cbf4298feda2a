/* Declares what the folder of a format adds to the commands for all formats. For a file of
 * another format, these functions do nothing. */
#pragma once
#include "cli/cli.h"

/* Tells whether the command may use an opened module, as far as options of its format decide.
 * Returns false when an error has been reported. */
bool format_accepts(struct cli *c, const char *name, const penta_module *module);
/* Does what format_accepts does, for a file that the command does not open itself. */
bool format_accepts_file(struct cli *c, const struct input *in);
/* Prints warnings about a file that penta seal has made. */
void format_sealed(struct cli *c, const char *name, penta_bytes made);
/* Compiles a source that is not for coil. */
void format_compile(struct cli *c, struct input *source);
/* Returns a hint at an option that the user seems to have forgotten, from the way in which the
 * run ended, or NULL. */
const char *format_hint(const struct cli *c, const penta_module *module, const penta_stop *stop);
