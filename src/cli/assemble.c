/* asm, convert, seal and open: text or a file to other bytes. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/bytes.h"
#include "cli/cli.h"

const struct driver *driver_of_suffix(const char *name)
{
    for (size_t i = 0; drivers[i]; i++) {
        size_t n = strlen(name), k = drivers[i]->suffix ? strlen(drivers[i]->suffix) : 0;
        if (k && n > k && !strcmp(name + n - k, drivers[i]->suffix)) return drivers[i];
    }
    return NULL;
}

static bool takes(const struct driver *driver, const char *key)
{
    const struct option_info *o = driver->options;
    while (o && o->key && strcmp(o->key, key)) o++;
    return o && o->key;
}

/* Adds what the formats cannot know: -g, and the name of the text, for includes and source lines,
 * unless the user gave another. */
static penta_option *with_source(const struct cli *c, const struct driver *driver,
                                 penta_option *options, size_t *count, const char *name)
{
    penta_option *more = realloc(options, (*count + 2) * sizeof *more);
    if (!more) return options;
    if (c->value[OPT_LINES] && takes(driver, "debug-lines"))
        more[(*count)++] = (penta_option){"debug-lines", "1"};
    if (takes(driver, "source-name") && !option_text(more, *count, "source-name"))
        more[(*count)++] = (penta_option){"source-name", name};
    return more;
}

penta_module *assemble_input(struct cli *c, const struct input *in, const struct driver *driver)
{
    size_t count = 0;
    penta_option *options = with_source(c, driver, NULL, &count, in->name);
    penta_bytes text = input_bytes(in);
    struct finding_sink sink;
    finding_sink_init(&sink, c, in->name);
    sink.source = &text;
    penta_module *module =
        penta_assemble(text, driver->name, options, count, finding_sink_add, &sink);
    sink.uncounted = module != NULL; /* the JSON document is about the run, not about the text */
    finding_sink_finish(&sink);
    if (!module) cli_fail(c, EXIT_NO);
    free(options);
    return module;
}

void command_ASM(struct cli *c)
{
    const char *name = c->words[0], *format = c->value[OPT_FORMAT];
    const struct driver *driver = format ? driver_find(format) : driver_of_suffix(name);
    struct input in;
    if (!input_read(c, name, &in)) return;
    if (!driver) {
        penta_error err = {0};
        error_at(&err, BASE_UNKNOWN_FORMAT, 0,
                 format ? "no format is called '%.40s'"
                        : "no format writes text with the suffix of '%.40s'",
                 format ? format : name);
        error_note(&err, "--format names one; penta formats lists them");
        cli_error(c, name, &err);
        input_close(&in);
        return;
    }
    size_t count = 0;
    penta_option *options = options_for(c, driver, OPTION_ASSEMBLE, &count);
    options = with_source(c, driver, options, &count, name);
    penta_bytes text = input_bytes(&in);
    struct finding_sink sink;
    finding_sink_init(&sink, c, name);
    sink.source = &text;
    penta_module *module =
        penta_assemble(text, driver->name, options, count, finding_sink_add, &sink);
    bool refused = c->value[OPT_STRICT] && sink.warnings;
    penta_buffer bytes = {0};
    penta_error err = {0};
    if (c->value[OPT_JSON]) json_text(&c->json, "format", driver->name);
    finding_sink_finish(&sink);
    if (!module || refused)
        cli_fail(c, EXIT_NO);
    else if (!penta_encode(module, &bytes, &err))
        cli_error(c, name, &err);
    else
        cli_bytes(c, (penta_bytes){bytes.data, bytes.size});
    penta_buffer_free(&bytes);
    penta_close(module);
    free(options);
    input_close(&in);
}

/* convert, seal and open: one module in, other bytes of the same format out. */
typedef bool transform_fn(const penta_module *module, const penta_option *options, size_t count,
                          struct writer *out, struct findings *findings);

/* Keeps the highest exit code of the findings: a wrong key exits differently from a bad file. */
struct transform_sink {
    struct finding_sink findings;
    int exit;
};

static void transform_finding(void *user, const penta_error *finding)
{
    struct transform_sink *sink = user;
    int exit = cli_exit_of(finding->code);
    if (finding->severity == PENTA_ERROR && exit > sink->exit) sink->exit = exit;
    finding_sink_add(&sink->findings, finding);
}

static void transform(struct cli *c, const struct input *in, transform_fn *fn, unsigned use,
                      const char *cannot)
{
    const struct driver *driver = in->module->driver;
    penta_error err = {0};
    if (!fn)
        error_at(&err, BASE_UNSUPPORTED, 0, "%s files cannot be %s", driver->name, cannot);
    else if (driver->exit_of && driver->exit_of(in->module->damage.code))
        err = in->module->damage;
    else if (in->module->damage.code)
        error_at(&err, BASE_DAMAGED, in->module->damage.offset, "%.100s",
                 in->module->damage.message);
    if (err.code) {
        cli_error(c, in->name, &err);
        return;
    }
    size_t count = 0;
    penta_option *options = options_for(c, driver, use, &count);
    struct writer out = {0};
    struct transform_sink sink = {.exit = EXIT_NO};
    finding_sink_init(&sink.findings, c, in->name);
    sink.findings.module = in->module;
    struct findings f = {.rules = driver->rules, .report = transform_finding, .user = &sink};
    bool ok = fn(in->module, options, count, &out, &f);
    finding_sink_finish(&sink.findings);
    if (!ok || f.errors)
        cli_fail(c, sink.exit);
    else
        cli_bytes(c, writer_view(&out));
    writer_free(&out);
    free(options);
}

/* --from NAME chooses the format that is called SOMETHING-NAME, where bytes alone do not tell. */
static void format_from(struct cli *c)
{
    const char *from = NULL;
    for (size_t i = 0; i < c->format_option_count; i++)
        if (!strcmp(c->format_options[i].key, "from")) from = c->format_options[i].value;
    for (size_t i = 0; from && !c->value[OPT_FORMAT] && drivers[i]; i++) {
        const char *dash = strchr(drivers[i]->name, '-');
        if (dash && !strcmp(dash + 1, from)) c->value[OPT_FORMAT] = drivers[i]->name;
    }
}

void command_CONVERT(struct cli *c)
{
    struct input in;
    format_from(c);
    if (!input_open(c, c->words[0], &in)) return;
    transform(c, &in, in.module->driver->convert, OPTION_CONVERT, "converted");
    input_close(&in);
}

void command_SEAL(struct cli *c)
{
    struct input in;
    if (!input_open(c, c->words[0], &in)) return;
    transform(c, &in, in.module->driver->seal, OPTION_SEAL, "sealed");
    input_close(&in);
}

void command_OPEN(struct cli *c)
{
    struct input in;
    if (!input_open(c, c->words[0], &in)) return;
    transform(c, &in, in.module->driver->unseal, OPTION_UNSEAL, "opened: they are never sealed");
    input_close(&in);
}
