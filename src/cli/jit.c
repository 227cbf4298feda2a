/* jit: what the compiler makes of a program. */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "cli/cli.h"
#include "cli/machine.h"
#include "cli/native.h"

#ifdef PENTA_JIT
#include "pvm/jit.h"

struct listing {
    struct cli *cli;
    const penta_module *module;
    const struct pvm_native *native;
};

static void native_lines(struct listing *l, uint32_t from, uint32_t to)
{
    struct writer *out = &l->cli->out;
    bool json = l->cli->value[OPT_JSON];
    while (from < to) {
        char text[128];
        const uint8_t *code = l->native->code + from;
        size_t size = native_text(code, to - from, from, text, sizeof text);
        if (json) {
            json_object(&l->cli->json, NULL);
            json_uint(&l->cli->json, "offset", from);
            json_hex(&l->cli->json, "bytes", (penta_bytes){code, size});
            json_text(&l->cli->json, "text", *text ? text : NULL);
            json_end(&l->cli->json);
        } else {
            writer_print(out, "      %6x  ", from);
            for (size_t i = 0; i < size; i++) writer_print(out, "%02x", code[i]);
            for (size_t i = size; i < 13 && *text; i++) writer_text(out, "  ");
            writer_print(out, "%s%s\n", *text ? " " : "", text);
        }
        from += (uint32_t)size;
    }
}

/* Where the code of this instruction ends: at the next one's, or at the charge in front of that. */
static uint32_t end_of(const struct pvm_native *n, uint32_t pc)
{
    for (uint32_t next = pc + 1; next <= n->size; next++)
        if (n->offsets[next])
            return n->offsets[next] - (pvm_bit(n->block_starts, next) ? n->charge_size : 0);
    return n->cold_start;
}

static void instruction(struct listing *l, uint32_t pc)
{
    struct writer text = {0};
    struct json *j = &l->cli->json;
    const struct pvm_native *n = l->native;
    uint32_t at = n->offsets[pc];
    bool starts = pvm_bit(n->block_starts, pc);
    if (!l->module->driver->print_at(l->module, pc, &text)) writer_text(&text, "trap");
    writer_char(&text, 0);
    if (l->cli->value[OPT_JSON]) {
        json_object(j, NULL);
        json_uint(j, "pc", pc);
        json_text(j, "text", (const char *)text.out.data);
        json_bool(j, "block", starts);
        json_bool(j, "fused", !at);
        json_list(j, "native");
    } else {
        if (starts) writer_char(&l->cli->out, '\n');
        writer_print(&l->cli->out, "%6u  %s%s\n", pc, (const char *)text.out.data,
                     at ? "" : "        (with the one above)");
    }
    if (at) native_lines(l, starts ? at - n->charge_size : at, end_of(n, pc));
    if (l->cli->value[OPT_JSON]) {
        json_end(j);
        json_end(j);
    }
    writer_free(&text);
}

static void dump(struct listing *l, const struct pvm_code *code)
{
    if (l->cli->value[OPT_JSON]) json_list(&l->cli->json, "instructions");
    for (uint32_t pc = 0; pc <= l->native->size; pc++)
        if (l->native->offsets[pc] || pvm_starts(code, pc)) instruction(l, pc);
    if (l->cli->value[OPT_JSON]) json_end(&l->cli->json);
}

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void summary(struct listing *l, const struct pvm_code *code, uint64_t took)
{
    const struct pvm_native *n = l->native;
    uint32_t count = 0, native = n->used - n->body;
    for (uint32_t pc = 0; pc < n->size; pc++) count += pvm_starts(code, pc);
    if (l->cli->value[OPT_JSON]) {
        json_text(&l->cli->json, "engine", "jit");
        json_uint(&l->cli->json, "instructions_count", count);
        json_uint(&l->cli->json, "native_bytes", native);
        json_uint(&l->cli->json, "nanoseconds", took);
        return;
    }
    writer_print(&l->cli->out,
                 "%u instructions, %u bytes of code, %u native bytes, compiled in %llu us\n",
                 count, n->size, native, (unsigned long long)(took / 1000));
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
    struct listing l = {c, in->module, pvm_native_compile(cells, &config)};
    uint64_t took = now() - start;
    if (l.native) {
        summary(&l, &cells->code, took);
        if (c->value[OPT_DUMP]) dump(&l, &cells->code);
        pvm_native_free((struct pvm_native *)l.native);
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
    if (in.module->damage.code) err = in.module->damage;
    else if (strcmp(in.module->driver->name, "pvm"))
        error_at(&err, BASE_UNSUPPORTED, 0, "%s has no compiler", in.module->driver->name);
    else compile(c, &in, &err);
    if (err.code) cli_error(c, in.name, &err);
    input_close(&in);
}
