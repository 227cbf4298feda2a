/* create and compile: a source of some kind, and options, to a container. */
#include <stdlib.h>
#include <string.h>
#include "cli/cvbc/container.h"

static bool ends_with(const char *name, const char *suffix)
{
    size_t n = strlen(name), k = strlen(suffix);
    return n > k && !strcmp(name + n - k, suffix);
}

static bool is_source(const char *name) { return ends_with(name, ".ino") || ends_with(name, ".c"); }

/* Findings of the text go to the sink. False without an error: they say why. */
static bool build(struct input *in, bool source, const penta_option *options, size_t count,
                  struct finding_sink *sink, penta_buffer *out, penta_error *err)
{
    penta_guess guess;
    penta_bytes bytes = input_bytes(in);
    if (source)
        return penta_cvbc_compile(bytes, in->name, options, count, out, finding_sink_add, sink,
                                  err);
    if (penta_detect(bytes, &guess, 1) && !strcmp(guess.format, "cvbc"))
        in->module = penta_open(bytes, "cvbc", NULL, 0, err);
    else
        in->module = penta_assemble(bytes, "cvbc", NULL, 0, finding_sink_add, sink);
    return in->module && penta_cvbc_create(in->module, options, count, out, err);
}

static void create(struct cli *c, struct input *in, bool source)
{
    size_t count = 0;
    penta_option *options = options_for(c, "cvbc", OPTION_CREATE, &count);
    penta_bytes text = input_bytes(in);
    struct finding_sink sink;
    finding_sink_init(&sink, c, in->name);
    sink.source = &text;
    penta_buffer out = {0};
    penta_error err = {0};
    bool ok = build(in, source || is_source(in->name), options, count, &sink, &out, &err);
    finding_sink_finish(&sink);
    if (ok)
        cli_bytes(c, (penta_bytes){out.data, out.size});
    else if (err.code)
        cli_error(c, in->name, &err);
    else
        cli_fail(c, EXIT_NO);
    penta_buffer_free(&out);
    free(options);
}

void command_CREATE(struct cli *c)
{
    struct input in;
    if (!input_read(c, c->words[0], &in)) return;
    create(c, &in, false);
    input_close(&in);
}

void container_compile(struct cli *c, struct input *in) { create(c, in, true); }
