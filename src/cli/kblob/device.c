/* penta device: scripts of calls on the mock GPU, and replay of its traces. */
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "cli/cli.h"
#include "gpu/tools/replay.h"
#include "gpu/tools/script.h"

static void complain(struct cli *c, const char *name, penta_bytes text, const penta_error *err)
{
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

static void run(struct cli *c, const char *name, penta_bytes text)
{
    penta_error err = {0};
    char *folder = folder_of(name);
    struct script_options options = {.device_path = c->value[OPT_DEVICE],
                                     .trace_path = c->value[OPT_TRACE],
                                     .mode = c->value[OPT_MODE],
                                     .folder = folder};
    struct json *json = c->value[OPT_JSON] ? &c->json : NULL;
    if (!script_run(text, &options, &c->out, json, &err)) complain(c, name, text, &err);
    free(folder);
}

static void replay(struct cli *c, const char *name, penta_bytes text)
{
    penta_error err = {0};
    struct replay result;
    struct writer differences = {0};
    if (!replay_run(text, c->value[OPT_DEVICE], &differences, &result, &err)) {
        complain(c, name, text, &err);
    } else {
        if (result.differences) cli_fail(c, EXIT_NO);
        if (c->value[OPT_JSON]) {
            json_uint(&c->json, "calls", result.calls);
            json_uint(&c->json, "events", result.events);
            json_uint(&c->json, "differences", result.differences);
            json_string(&c->json, "report", writer_view(&differences));
        } else {
            writer_bytes(&c->out, differences.out.data, differences.out.size);
            cli_unbound(c);
            writer_print(&c->out, "%llu calls, %llu events, %llu differences\n",
                         (unsigned long long)result.calls, (unsigned long long)result.events,
                         (unsigned long long)result.differences);
        }
    }
    writer_free(&differences);
}

const char *mode_words(enum command command, const struct driver *only, size_t i)
{
    (void)command, (void)only;
    return script_mode_name(i);
}

static bool mode_known(struct cli *c)
{
    const char *mode = c->value[OPT_MODE];
    penta_error err = {0};
    for (size_t i = 0; script_mode_name(i); i++)
        if (!mode || !strcmp(mode, script_mode_name(i))) return true;
    error_not_in(&err, "mode", mode, script_mode_name);
    cli_error(c, NULL, &err);
    return false;
}

void command_DEVICE(struct cli *c)
{
    if (c->word_count != 2 || (strcmp(c->words[0], "run") && strcmp(c->words[0], "replay"))) {
        cli_usage(c, "penta device run SCRIPT, or penta device replay TRACE",
                  "run or replay, and one file");
        return;
    }
    struct input in = {0};
    if (!mode_known(c) || !input_read(c, c->words[1], &in)) return;
    (strcmp(c->words[0], "run") ? replay : run)(c, c->words[1], input_bytes(&in));
    input_close(&in);
}
