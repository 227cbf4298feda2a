#include "cli/pvm/hint.h"
#include <string.h>
#include "base/options.h"
#include "penta/pvm.h"

const char *pvm_hint(const struct cli *c, const penta_module *module, const penta_stop *stop)
{
    if (stop->kind != PENTA_STOP_FAULT || strcmp(penta_module_format(module), "pvm") ||
        !penta_pvm_in_arguments(module, stop->args[0]) ||
        option_text(c->format_options, c->format_option_count, "spi-args"))
        return NULL;
    return "the program reads its arguments: --spi-args HEX gives it some";
}
