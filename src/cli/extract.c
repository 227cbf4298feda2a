/* The command extract writes parts of a file as they are stored: those that a selector selects, or a part of a cvbc
 * container by its name, such as its code or the message that is signed. */
#include <string.h>
#include "cli/cli.h"
#include "penta/cvbc.h"

/* Lists the parts that the library extracts, and the message that is signed. */
const char *part_words(enum command command, const char *only, size_t i)
{
    (void)command, (void)only;
    return !i ? "tbs" : penta_cvbc_part_name(i - 1);
}

static bool extract_part(const penta_module *module, const char *part, penta_buffer *out,
                         penta_error *err)
{
    penta_bytes bytes = {0};
    uint8_t message[40];
    bool tbs = !strcmp(part, "tbs");
    if (tbs ? !penta_cvbc_tbs(module, message, err) : !penta_cvbc_part(module, part, &bytes, err))
        return false;
    penta_buffer_append(out, tbs ? (penta_bytes){message, sizeof message} : bytes);
    return true;
}

/* Extracts a part by its name. Only cvbc containers have such parts, and a damaged one has none. */
static bool extract_named(const struct cli *c, const penta_module *module, penta_buffer *out,
                          penta_error *err)
{
    const char *part = c->value[OPT_PART] ? c->value[OPT_PART] : "bytecode";
    const penta_error *damage = penta_module_damage(module);
    if (strcmp(penta_module_format(module), "cvbc")) {
        error_at(err, BASE_OPTION, 0, "parts of %s files are chosen with --select",
                 penta_module_format(module));
        return error_note(err, "penta inspect FILE shows all paths");
    }
    if (damage) return error_at(err, BASE_DAMAGED, damage->offset, "%.100s", damage->message);
    return extract_part(module, part, out, err);
}

void command_EXTRACT(struct cli *c)
{
    struct input in;
    penta_error err = {0};
    penta_buffer bytes = {0};
    const char *select = c->value[OPT_SELECT];
    if (select && c->value[OPT_PART]) {
        cli_usage(c, NULL, "either --select or --part");
        return;
    }
    if (!input_open(c, c->words[0], &in)) return;
    bool ok = select ? penta_select_bytes(in.module, select, &bytes, &err)
                     : extract_named(c, in.module, &bytes, &err);
    if (ok)
        cli_bytes(c, (penta_bytes){bytes.data, bytes.size});
    else
        cli_error(c, cli_exit_of(err.code) == EXIT_USAGE ? NULL : in.name, &err);
    penta_buffer_free(&bytes);
    input_close(&in);
}
