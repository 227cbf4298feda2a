#include "cli/cvbc/container.h"
#include <string.h>

bool container_open(struct cli *c, const char *name, const char *others, struct input *in)
{
    if (!input_open(c, name, in)) return false;
    penta_error err = {0};
    const penta_error *damage = penta_module_damage(in->module);
    if (strcmp(penta_module_format(in->module), "cvbc"))
        error_at(&err, BASE_UNSUPPORTED, 0, "%s files %s", penta_module_format(in->module), others);
    else if (damage)
        error_at(&err, BASE_DAMAGED, damage->offset, "%.100s", damage->message);
    if (!err.code) return true;
    cli_error(c, name, &err);
    input_close(in);
    return false;
}

const char *container_option(const struct cli *c, const char *key)
{
    return option_text(c->format_options, c->format_option_count, key);
}

bool is_rule(const penta_error *err, const char *name)
{
    const char *rule = err->code >> 16 ? penta_code_name(err->code) : NULL;
    return rule && !strcmp(rule, name);
}
