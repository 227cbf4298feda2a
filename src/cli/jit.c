/* The command jit shows what the compiler makes of a program, for the formats that have a
 * compiler. */
#include <stdlib.h>
#include <string.h>
#include "cli/machine/deadline.h"
#include "cli/native/native_listing.h"
#include "penta/coil.h"

static void jit_summary(struct cli *c, const penta_pvm_compilation *made)
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

static void compile_pvm(struct cli *c, const penta_module *module, penta_error *err)
{
    size_t count = 0;
    penta_option *options = options_for(c, "pvm", OPTION_RUN, &count);
    penta_pvm_compilation made;
    penta_pvm_compiled *compiled =
        penta_pvm_compile(module, options, count, deadline_flag(), &made, err);
    free(options);
    if (!compiled) return;
    jit_summary(c, &made);
    if (c->value[OPT_DUMP]) {
        bool json = c->value[OPT_JSON];
        native_listing(&c->out, json ? &c->json : NULL, module, compiled, 0, UINT32_MAX);
    }
    penta_pvm_compiled_free(compiled);
}

const char *pass_words(enum command command, const char *only, size_t i)
{
    (void)command;
    return only && strcmp(only, "coil") ? NULL : penta_coil_pass_name(i);
}

static void coil_summary(struct cli *c, const penta_coil_compilation *made)
{
    if (c->value[OPT_JSON]) {
        json_text(&c->json, "engine", "jit");
        json_uint(&c->json, "functions_count", made->functions);
        json_uint(&c->json, "interpreted_count", made->interpreted);
        json_uint(&c->json, "instructions_count", made->instructions);
        json_uint(&c->json, "native_bytes", made->native_bytes);
        json_uint(&c->json, "nanoseconds", made->nanoseconds);
        json_uint(&c->json, "work_count", made->work);
        json_uint(&c->json, "simple_count", made->simple);
        return;
    }
    writer_print(&c->out, "%u instructions, %u functions", made->instructions, made->functions);
    if (made->simple) writer_print(&c->out, " (%u at level 1)", made->simple);
    if (made->interpreted) writer_print(&c->out, " (%u interpreted)", made->interpreted);
    writer_print(&c->out, ", %u native bytes, compiled in %llu us\n", made->native_bytes,
                 (unsigned long long)(made->nanoseconds / 1000));
}

static void compile_coil(struct cli *c, const penta_module *module, penta_error *err)
{
    size_t count = 0;
    penta_option *options = options_for(c, "coil", OPTION_RUN, &count);
    penta_vm *vm = penta_vm_new(module, "jit", options, count, deadline_flag(), err);
    penta_coil_compilation made;
    penta_buffer text = {0};
    const char *pass = c->value[OPT_DUMP_PASS];
    free(options);
    if (!vm) return;
    if (!penta_coil_compiled(vm, &made))
        error_at(err, BASE_UNSUPPORTED, 0, "this host has no compiler for this program");
    else if (!pass)
        coil_summary(c, &made);
    else if (penta_coil_pass_text(vm, pass, &text, err) && !c->value[OPT_JSON])
        writer_bytes(&c->out, text.data, text.size);
    else if (!err->code) {
        penta_buffer_append(&text, (penta_bytes){(const uint8_t *)"", 1});
        json_text(&c->json, "text", (const char *)text.data);
    }
    penta_buffer_free(&text);
    penta_vm_free(vm);
}

void command_JIT(struct cli *c)
{
    struct input in;
    penta_error err = {0};
    if (!deadline_begin(c, NULL)) return;
    if (!input_open(c, c->words[0], &in)) {
        deadline_end();
        return;
    }
    const char *format = penta_module_format(in.module);
    if (!strcmp(format, "coil") && c->value[OPT_DUMP])
        error_at(&err, BASE_UNSUPPORTED, 0,
                 "--dump is for pvm: penta compile --emit asm prints COIL");
    else if (!strcmp(format, "coil"))
        compile_coil(c, in.module, &err);
    else
        compile_pvm(c, in.module, &err);
    if (err.code && !deadline_reported(c, in.name)) cli_error(c, in.name, &err);
    deadline_end();
    input_close(&in);
}
