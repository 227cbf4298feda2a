/* The command extract writes one part of a container as a file: its code, for instance, or the
 * message that is signed. */
#include "cli/cvbc/container.h"
#include <string.h>

/* Lists the parts that the library extracts, and the message that is signed. */
const char *part_words(enum command command, const char *only, size_t i)
{
    (void)command, (void)only;
    return !i ? "tbs" : penta_cvbc_part_name(i - 1);
}

static bool extract_find(const penta_module *module, const char *part, penta_bytes *out,
                         uint8_t message[40], penta_error *err)
{
    if (strcmp(part, "tbs")) return penta_cvbc_part(module, part, out, err);
    *out = (penta_bytes){message, 40};
    return penta_cvbc_tbs(module, message, err);
}

void command_EXTRACT(struct cli *c)
{
    struct input in;
    if (!container_open(c, c->words[0], &in)) return;
    const char *part = c->value[OPT_PART] ? c->value[OPT_PART] : "bytecode";
    penta_error err = {0};
    penta_bytes bytes = {0};
    uint8_t message[40];
    if (extract_find(in.module, part, &bytes, message, &err))
        cli_bytes(c, bytes);
    else
        cli_error(c, in.name, &err);
    input_close(&in);
}
