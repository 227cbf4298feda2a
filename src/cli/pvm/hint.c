#include "cli/pvm/hint.h"
#include <string.h>
#include "pvm/pvm.h"

/* The arguments of a standard program lie here, 16 MiB at most (Gray Paper, appendix A.7). */
static const uint64_t arguments_start = 0xfeff0000, arguments_end = 0xffff0000;

const char *pvm_hint(const struct cli *c, const penta_module *module, const penta_stop *stop)
{
    if (stop->kind != PENTA_STOP_FAULT || strcmp(penta_module_format(module), "pvm")) return NULL;
    uint64_t page = arguments_start & ~UINT64_C(0xfff);
    if (!pvm_module(module)->program.spi || stop->args[0] < page || stop->args[0] >= arguments_end)
        return NULL;
    for (size_t i = 0; i < c->format_option_count; i++)
        if (!strcmp(c->format_options[i].key, "spi-args")) return NULL;
    return "the program reads its arguments: --spi-args HEX gives it some";
}
