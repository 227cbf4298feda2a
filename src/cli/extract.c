#include <string.h>
#include "base/bytes.h"
#include "cli/cli.h"
#include "cvbc/cvbc.h"

static bool find(const struct cvbc_module *m, const char *part, penta_bytes *out,
                 uint8_t message[40], penta_error *err)
{
    const struct { const char *name; penta_bytes bytes;
    } parts[] = {{"stored", m->stored}, {"metadata", m->metadata},     {"security", m->security},
                 {"debug", m->debug},   {"public-key", m->public_key}, {"signature", m->signature}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!strcmp(parts[i].name, part)) {
            *out = parts[i].bytes;
            return out->size || error_at(err, BASE_OPTION_VALUE, 0, "the file has no %s", part);
        }
    if (!strcmp(part, "tbs")) {
        if (!m->signature.size) return error_at(err, CVBC_UNSIGNED, 56, "the file is not signed");
        cvbc_tbs(m->base.file, cvbc_offset(m, m->signature.data), m->signature.size,
                 m->protection.hash_algorithm, message);
        *out = (penta_bytes){message, 40};
        return true;
    }
    if (strcmp(part, "bytecode")) {
        error_at(err, BASE_OPTION_VALUE, 0, "no part is called '%.40s'", part);
        return error_note(
            err, "bytecode, stored, metadata, security, debug, public-key, signature or tbs");
    }
    const struct cvbc_opened *o = cvbc_open(m);
    if (o->failure.code) *err = o->failure;
    *out = o->program.image;
    return !err->code;
}

void command_EXTRACT(struct cli *c)
{
    struct input in;
    if (cli_overwrites_input(c) || !input_open(c, c->words[0], &in)) return;
    const char *part = c->value[OPT_PART] ? c->value[OPT_PART] : "bytecode";
    penta_error err = {0};
    penta_bytes bytes = {0};
    uint8_t message[40];
    if (in.module->driver != &cvbc_driver)
        error_at(&err, BASE_UNSUPPORTED, 0, "%s files have no such parts", in.module->driver->name);
    else if (in.module->damage.code)
        error_at(&err, BASE_DAMAGED, in.module->damage.offset, "%.100s", in.module->damage.message);
    else if (find(cvbc_module(in.module), part, &bytes, message, &err))
        cli_bytes(c, bytes);
    if (err.code) cli_error(c, in.name, &err);
    input_close(&in);
}
