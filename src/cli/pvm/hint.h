/* A hint at an option that was forgotten, when a run ended like this; or NULL. */
#pragma once
#include "cli/cli.h"

const char *pvm_hint(const struct cli *c, const penta_module *module, const penta_stop *stop);
