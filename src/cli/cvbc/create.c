/* create and compile: a source of some kind, and options, to a container. */
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "cli/cli.h"
#include "cvbc/compile/compile.h"

static bool ends_with(const char *name, const char *suffix)
{
    size_t n = strlen(name), k = strlen(suffix);
    return n > k && !strcmp(name + n - k, suffix);
}

static void build(struct cli *c, struct cvbc_creation *made, const penta_option *options,
                  size_t count)
{
    penta_error err = {0};
    struct writer out = {0};
    if (cvbc_create_options(made, options, count, &err) && cvbc_build_write(&made->b, &out, &err))
        cli_bytes(c, writer_view(&out));
    else
        cli_error(c, c->words[0], &err);
    writer_free(&out);
}

static void from_source(struct cli *c, const struct input *in, const penta_option *options,
                        size_t count)
{
    struct cvbc_creation made = {0};
    penta_bytes text = input_bytes(in);
    struct finding_sink sink;
    finding_sink_init(&sink, c, in->name);
    sink.source = &text;
    struct findings f = {.rules = cvbc_rules, .report = finding_sink_add, .user = &sink};
    struct cvbc_compilation how = {.portable = option_text(options, count, "portable") != NULL,
                                   .strip = option_text(options, count, "strip") != NULL,
                                   .file = in->name};
    struct writer debug = {0};
    bool ok = cvbc_compile(text, &how, &made.b, &debug, &f);
    finding_sink_finish(&sink);
    made.b.debug = writer_view(&debug);
    if (ok)
        build(c, &made, options, count);
    else
        cli_fail(c, EXIT_NO);
    writer_free(&debug);
    cvbc_creation_fini(&made);
}

static void from_module(struct cli *c, const penta_module *module, const penta_option *options,
                        size_t count)
{
    struct cvbc_creation made = {0};
    penta_error err = {0};
    if (cvbc_create_from(&made, cvbc_module(module), &err))
        build(c, &made, options, count);
    else
        cli_error(c, c->words[0], &err);
    cvbc_creation_fini(&made);
}

static void create(struct cli *c, bool source)
{
    struct input in;
    if (!input_read(c, c->words[0], &in)) return;
    size_t count = 0;
    penta_option *options = options_for(c, &cvbc_driver, OPTION_CREATE, &count);
    penta_bytes bytes = input_bytes(&in);
    if (source || ends_with(in.name, ".ino") || ends_with(in.name, ".c")) {
        from_source(c, &in, options, count);
    } else if (bytes.size >= 4 && cvbc_probe(bytes, NULL)) {
        penta_error err = {0};
        in.module = penta_open(bytes, "cvbc", NULL, 0, &err);
        if (in.module)
            from_module(c, in.module, options, count);
        else
            cli_error(c, in.name, &err);
    } else {
        struct finding_sink sink;
        finding_sink_init(&sink, c, in.name);
        sink.source = &bytes;
        in.module = penta_assemble(bytes, "cvbc", NULL, 0, finding_sink_add, &sink);
        finding_sink_finish(&sink);
        if (in.module)
            from_module(c, in.module, options, count);
        else
            cli_fail(c, EXIT_NO);
    }
    free(options);
    input_close(&in);
}

void command_CREATE(struct cli *c) { create(c, false); }
void command_COMPILE(struct cli *c) { create(c, true); }
