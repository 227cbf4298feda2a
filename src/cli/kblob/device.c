/* penta device: scripts of calls on the mock GPU, and replay of its traces. */
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "cli/cli.h"
#include "penta/device.h"

static void device_complain(struct cli *c, const char *name, penta_bytes text,
                            const penta_error *err)
{
    if (err->code == BASE_OPTION_VALUE) { /* the error is about an option, not about the script */
        cli_error(c, NULL, err);
        return;
    }
    struct finding_sink sink;
    finding_sink_init(&sink, c, name);
    sink.source = &text;
    writer_flush(&c->out);
    finding_sink_add(&sink, err);
    finding_sink_finish(&sink);
    cli_fail(c, cli_exit_of(err->code));
}

/* The folder of a script, which its file names are relative to; free it. NULL: the current one. */
static char *folder_of(const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash ? strndup(name, slash == name ? 1 : (size_t)(slash - name)) : NULL;
}

static void device_run(struct cli *c, const char *name, penta_bytes text)
{
    penta_error err = {0};
    penta_buffer out = {0};
    char *folder = folder_of(name);
    penta_device_options options = {.device_path = c->value[OPT_DEVICE],
                                    .trace_path = c->value[OPT_TRACE],
                                    .mode = c->value[OPT_MODE],
                                    .folder = folder};
    bool json = c->value[OPT_JSON], ok = penta_device_run(text, &options, json, &out, &err);
    struct writer calls = {.out = out};
    struct json made = {.out = &calls};
    if (!json)
        writer_bytes(&c->out, out.data, out.size);
    else if (out.size)
        json_embed(&c->json, "calls", &made);
    if (!ok) device_complain(c, name, text, &err);
    penta_buffer_free(&out);
    free(folder);
}

static void device_replay(struct cli *c, const char *name, penta_bytes text)
{
    penta_error err = {0};
    penta_device_replayed result;
    penta_buffer differences = {0};
    if (!penta_device_replay(text, c->value[OPT_DEVICE], &differences, &result, &err)) {
        device_complain(c, name, text, &err);
    } else {
        if (result.differences) cli_fail(c, EXIT_NO);
        if (c->value[OPT_JSON]) {
            json_uint(&c->json, "calls", result.calls);
            json_uint(&c->json, "events", result.events);
            json_uint(&c->json, "differences", result.differences);
            json_string(&c->json, "report", (penta_bytes){differences.data, differences.size});
        } else {
            writer_bytes(&c->out, differences.data, differences.size);
            cli_unbound(c);
            writer_print(&c->out, "%llu calls, %llu events, %llu differences\n",
                         (unsigned long long)result.calls, (unsigned long long)result.events,
                         (unsigned long long)result.differences);
        }
    }
    penta_buffer_free(&differences);
}

const char *mode_words(enum command command, const char *only, size_t i)
{
    (void)command, (void)only;
    return penta_device_mode_name(i);
}

void command_DEVICE(struct cli *c)
{
    if (c->word_count != 2 || (strcmp(c->words[0], "run") && strcmp(c->words[0], "replay"))) {
        cli_usage(c, "penta device run SCRIPT, or penta device replay TRACE",
                  "run or replay, and one file");
        return;
    }
    struct input in = {0};
    if (!input_read(c, c->words[1], &in)) return;
    (strcmp(c->words[0], "run") ? device_replay : device_run)(c, c->words[1], input_bytes(&in));
    input_close(&in);
}
