/* Implements the commands asm, convert, seal and open, which make other bytes of a text or a
 * file. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/bytes.h"
#include "cli/cli.h"
#include "cli/formats.h"

const char *format_of_suffix(const char *name)
{
    const char *format;
    for (size_t i = 0; (format = penta_format_name(i)); i++) {
        const char *suffix = penta_format_suffix(format);
        size_t n = strlen(name), k = suffix ? strlen(suffix) : 0;
        if (k && n > k && !strcmp(name + n - k, suffix)) return format;
    }
    return NULL;
}

/* Adds the options that the formats cannot know: -g, and the name of the text, for includes and
 * source lines, unless the user gave another. */
static penta_option *with_source(const struct cli *c, const char *format, penta_option *options,
                                 size_t *count, const char *name)
{
    penta_option *more = realloc(options, (*count + 2) * sizeof *more);
    if (!more) return options;
    if (c->value[OPT_LINES] && penta_option_find(format, "debug-lines", ~0u))
        more[(*count)++] = (penta_option){"debug-lines", "1"};
    if (penta_option_find(format, "source-name", ~0u) && !option_text(more, *count, "source-name"))
        more[(*count)++] = (penta_option){"source-name", name};
    return more;
}

penta_module *assemble_input(struct cli *c, const struct input *in, const char *format)
{
    size_t count = 0;
    penta_option *options = with_source(c, format, NULL, &count, in->name);
    penta_bytes text = input_bytes(in);
    struct finding_sink sink;
    finding_sink_init(&sink, c, in->name);
    sink.source = &text;
    penta_module *module = penta_assemble(text, format, options, count, finding_sink_add, &sink);
    sink.uncounted = module != NULL; /* The JSON document is about the run, not about the text. */
    finding_sink_finish(&sink);
    if (!module) cli_fail(c, EXIT_NO);
    free(options);
    return module;
}

void command_ASM(struct cli *c)
{
    const char *name = c->words[0], *named = format_chosen(c);
    const char *format = named ? named : format_of_suffix(name);
    struct input in;
    if (!input_read(c, name, &in)) return;
    if (!format || !format_known(format)) {
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
    penta_option *options = options_for(c, format, OPTION_ASSEMBLE, &count);
    options = with_source(c, format, options, &count, name);
    penta_bytes text = input_bytes(&in);
    struct finding_sink sink;
    finding_sink_init(&sink, c, name);
    sink.source = &text;
    penta_module *module = penta_assemble(text, format, options, count, finding_sink_add, &sink);
    bool refused = c->value[OPT_STRICT] && sink.warnings;
    penta_buffer bytes = {0};
    penta_error err = {0};
    if (c->value[OPT_JSON]) json_text(&c->json, "format", format);
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

/* A function that convert, seal and open share. It reads one module and writes other bytes of
 * the same format. */
typedef bool transform_fn(const penta_module *module, const penta_option *options, size_t count,
                          penta_buffer *out, penta_report *report, void *user);

/* A sink of findings that keeps the highest exit code, since a wrong key exits differently from
 * a bad file. */
struct transform_sink {
    struct finding_sink findings;
    int exit;
    bool damaged;
    penta_error refused; /* the reason why nothing was tried, or code 0 */
};

static void transform_finding(void *user, const penta_error *finding)
{
    struct transform_sink *sink = user;
    int exit = cli_exit_of(finding->code);
    if (finding->severity == PENTA_ERROR && exit > sink->exit) sink->exit = exit;
    if (sink->damaged || finding->code == BASE_UNSUPPORTED)
        sink->refused = *finding;
    else
        finding_sink_add(&sink->findings, finding);
}

static void assemble_transform(struct cli *c, transform_fn *fn, unsigned use)
{
    struct input in;
    if (!input_open(c, c->words[0], &in)) return;
    size_t count = 0;
    penta_option *options = options_for(c, penta_module_format(in.module), use, &count);
    penta_buffer out = {0};
    struct transform_sink sink = {.exit = EXIT_NO, .damaged = penta_module_damage(in.module)};
    finding_sink_init(&sink.findings, c, in.name);
    sink.findings.module = in.module;
    bool ok = fn(in.module, options, count, &out, transform_finding, &sink);
    if (sink.refused.code) {
        finding_sink_drop(&sink.findings);
        cli_error(c, in.name, &sink.refused);
    } else {
        finding_sink_finish(&sink.findings);
        if (ok && c->command == COMMAND_SEAL)
            format_sealed(c, in.name, (penta_bytes){out.data, out.size});
        if (ok)
            cli_bytes(c, (penta_bytes){out.data, out.size});
        else
            cli_fail(c, sink.exit);
    }
    penta_buffer_free(&out);
    free(options);
    input_close(&in);
}

/* Lets --from NAME choose the format that is called SOMETHING-NAME, if bytes alone do not tell
 * it. */
static void format_from(struct cli *c)
{
    const char *from = option_text(c->format_options, c->format_option_count, "from"), *name;
    for (size_t i = 0; from && !c->value[OPT_FORMAT] && (name = penta_format_name(i)); i++) {
        const char *dash = strchr(name, '-');
        if (dash && !strcmp(dash + 1, from)) c->value[OPT_FORMAT] = name;
    }
}

void command_CONVERT(struct cli *c)
{
    format_from(c);
    assemble_transform(c, penta_convert, OPTION_CONVERT);
}

void command_SEAL(struct cli *c) { assemble_transform(c, penta_seal, OPTION_SEAL); }
void command_OPEN(struct cli *c) { assemble_transform(c, penta_unseal, OPTION_UNSEAL); }
