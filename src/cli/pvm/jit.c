/* jit: what the compiler makes of a program. */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "cli/cli.h"
#include "cli/machine/machine.h"
#include "cli/pvm/native_listing.h"

#ifdef PENTA_JIT
#include "pvm/jit/jit.h"

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void summary(struct cli *c, const struct pvm_native *n, const struct pvm_code *code,
                    uint64_t took)
{
    uint32_t count = 0, native = n->used - n->body;
    for (uint32_t pc = 0; pc < n->size; pc++) count += pvm_starts(code, pc);
    if (c->value[OPT_JSON]) {
        json_text(&c->json, "engine", "jit");
        json_uint(&c->json, "instructions_count", count);
        json_uint(&c->json, "native_bytes", native);
        json_uint(&c->json, "nanoseconds", took);
        return;
    }
    writer_print(&c->out,
                 "%u instructions, %u bytes of code, %u native bytes, compiled in %llu us\n", count,
                 n->size, native, (unsigned long long)(took / 1000));
}

static void dump(struct cli *c, const penta_module *module, const struct pvm_native *n)
{
    bool json = c->value[OPT_JSON];
    struct native_listing l = {&c->out, json ? &c->json : NULL, module, n};
    if (json) json_list(&c->json, "instructions");
    native_listing_range(&l, 0, n->size + 1);
    if (json) json_end(&c->json);
}

static bool compile(struct cli *c, const struct input *in, penta_error *err)
{
    const struct pvm_program *p = &pvm_module(in->module)->program;
    struct pvm_config config;
    size_t count = 0;
    penta_option *options = options_for(c, in->module->driver, OPTION_RUN, &count);
    bool ok = pvm_config_read(&config, p, options, count, err);
    free(options);
    if (!ok) return false;
    struct pvm_cells *cells =
        pvm_cells_new(&p->code, config.profile, config.model, config.metered, err);
    if (!cells) return false;
    uint64_t start = now();
    struct pvm_native *n = pvm_native_compile(cells, &config);
    uint64_t took = now() - start;
    if (n) {
        summary(c, n, &cells->code, took);
        if (c->value[OPT_DUMP]) dump(c, in->module, n);
        pvm_native_free(n);
    } else {
        error_at(err, BASE_UNSUPPORTED, 0, "no executable memory, or the code is too large");
    }
    pvm_cells_free(cells);
    return !err->code;
}
#else
static bool compile(struct cli *c, const struct input *in, penta_error *err)
{
    (void)c, (void)in;
    return error_at(err, BASE_UNSUPPORTED, 0, "this build has no compiler for this host");
}
#endif

void command_JIT(struct cli *c)
{
    struct input in;
    penta_error err = {0};
    if (!input_open(c, c->words[0], &in)) return;
    if (in.module->damage.code)
        err = in.module->damage;
    else if (strcmp(in.module->driver->name, "pvm"))
        error_at(&err, BASE_UNSUPPORTED, 0, "%s has no compiler", in.module->driver->name);
    else
        compile(c, &in, &err);
    if (err.code) cli_error(c, in.name, &err);
    input_close(&in);
}
