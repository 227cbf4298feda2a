/* Hands the questions of general commands (formats.h) to the folders of the formats. No other general file includes a
 * header of those folders. */
#include "cli/formats.h"
#include "cli/cvbc/container.h"
#include "cli/pvm/hint.h"

bool format_accepts(struct cli *c, const char *name, const penta_module *module)
{
    return container_accepted(c, name, module);
}

bool format_accepts_file(struct cli *c, const struct input *in)
{
    return container_acceptable(c, in);
}

void format_sealed(struct cli *c, const char *name, penta_bytes made)
{
    container_rounds_warn(c, name, made);
}

void format_compile(struct cli *c, struct input *source) { container_compile(c, source); }

const char *format_hint(const struct cli *c, const penta_module *module, const penta_stop *stop)
{
    return pvm_hint(c, module, stop);
}
