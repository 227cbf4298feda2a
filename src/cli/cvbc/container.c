/* Opens CockpitVM containers for the commands that need them whole, and refuses unsigned ones
 * where the option --require-signature was given. */
#include "cli/cvbc/container.h"
#include <stdlib.h>
#include <string.h>

bool container_open(struct cli *c, const char *name, struct input *in)
{
    if (!input_open(c, name, in)) return false;
    penta_error err = {0};
    const penta_error *damage = penta_module_damage(in->module);
    if (!damage) return true;
    error_at(&err, BASE_DAMAGED, damage->offset, "%.100s", damage->message);
    cli_error(c, name, &err);
    input_close(in);
    return false;
}

bool container_accepted(struct cli *c, const char *name, const penta_module *module)
{
    if (!container_option(c, "require-signature") || c->command == COMMAND_VERIFY ||
        c->command == COMMAND_VALIDATE || c->command == COMMAND_SIGN ||
        strcmp(penta_module_format(module), "cvbc"))
        return true;
    const penta_error *damage = penta_module_damage(module);
    const penta_error *reason = damage ? damage : penta_cvbc_objection(module);
    if (reason) cli_error(c, name, reason);
    return !reason;
}

bool container_acceptable(struct cli *c, const struct input *in)
{
    penta_error err = {0};
    size_t count = 0;
    if (!container_option(c, "require-signature")) return true;
    penta_option *options = options_for(c, "cvbc", OPTION_OPEN, &count);
    penta_module *module = penta_open(input_bytes(in), "cvbc", options, count, &err);
    bool ok = module && container_accepted(c, in->name, module);
    if (!module) cli_error(c, in->name, &err);
    penta_close(module);
    free(options);
    return ok;
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

static void rounds_finding(void *user, const penta_error *finding)
{
    if (is_rule(finding, "ROUNDS")) finding_sink_add(user, finding);
}

void container_rounds_warn(struct cli *c, const char *name, penta_bytes made)
{
    struct finding_sink sink;
    penta_error err = {0};
    penta_module *module = penta_open(made, "cvbc", NULL, 0, &err);
    if (!module) return;
    finding_sink_init(&sink, c, name);
    penta_validate(module, rounds_finding, &sink);
    finding_sink_tell(&sink);
    penta_close(module);
}
