/* jit: what the compiler makes of a program. */
#include <stdlib.h>
#include <string.h>
#include "cli/cli.h"
#include "cli/pvm/native_listing.h"

static void summary(struct cli *c, const penta_pvm_compilation *made)
{
    if (c->value[OPT_JSON]) {
        json_text(&c->json, "engine", "jit");
        json_uint(&c->json, "instructions_count", made->instructions);
        json_uint(&c->json, "native_bytes", made->native_bytes);
        json_uint(&c->json, "nanoseconds", made->nanoseconds);
        return;
    }
    writer_print(&c->out,
                 "%u instructions, %u bytes of code, %u native bytes, compiled in %llu us\n",
                 made->instructions, made->code_bytes, made->native_bytes,
                 (unsigned long long)(made->nanoseconds / 1000));
}

static void compile(struct cli *c, const penta_module *module, penta_error *err)
{
    size_t count = 0;
    penta_option *options = options_for(c, "pvm", OPTION_RUN, &count);
    penta_pvm_compilation made;
    penta_pvm_compiled *compiled = penta_pvm_compile(module, options, count, &made, err);
    free(options);
    if (!compiled) return;
    summary(c, &made);
    if (c->value[OPT_DUMP]) {
        bool json = c->value[OPT_JSON];
        native_listing(&c->out, json ? &c->json : NULL, module, compiled, 0, UINT32_MAX);
    }
    penta_pvm_compiled_free(compiled);
}

void command_JIT(struct cli *c)
{
    struct input in;
    penta_error err = {0};
    if (!input_open(c, c->words[0], &in)) return;
    if (strcmp(penta_module_format(in.module), "pvm"))
        error_at(&err, BASE_UNSUPPORTED, 0, "%s has no compiler", penta_module_format(in.module));
    else
        compile(c, in.module, &err);
    if (err.code) cli_error(c, in.name, &err);
    input_close(&in);
}
