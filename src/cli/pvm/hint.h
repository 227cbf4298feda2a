/* Declares a function that returns a hint at an option that the user seems to have forgotten,
 * from the way in which the run ended, or NULL. */
#pragma once
#include "cli/cli.h"

const char *pvm_hint(const struct cli *c, const penta_module *module, const penta_stop *stop);
