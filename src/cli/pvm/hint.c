/* Names the option that a PolkaVM program seems to need, from how its run ended. */
#include "cli/pvm/hint.h"
#include <string.h>
#include "base/options.h"
#include "penta/pvm.h"

static bool has_option(const struct cli *c, const char *key)
{
    return option_text(c->format_options, c->format_option_count, key) != NULL;
}

const char *pvm_hint(const struct cli *c, const penta_module *module, const penta_stop *stop)
{
    enum { ARGUMENTS = 0xfeff0000 };
    if (strcmp(penta_module_format(module), "pvm")) return NULL;
    bool jam = penta_pvm_in_arguments(module, ARGUMENTS);
    if (stop->kind == PENTA_STOP_FAULT && penta_pvm_in_arguments(module, stop->args[0]) &&
        !has_option(c, "spi-args"))
        return "the program reads its arguments: --spi-args HEX gives it some";
    if (jam && !has_option(c, "host") &&
        (stop->kind == PENTA_STOP_HOST || stop->kind == PENTA_STOP_TRAP))
        return "services of JAM need the host jam: --host jam --entry refine (or accumulate, "
               "is-authorized)";
    return NULL;
}
