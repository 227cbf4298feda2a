/* What every command shares: exit codes, errors, the JSON document, output. */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/bytes.h"
#include "base/number.h"
#include "base/sanitize.h"
#include "cli/output.h"

void cli_fail(struct cli *c, int exit)
{
    if (exit > c->exit) c->exit = exit;
}

int cli_exit_of(uint32_t code)
{
    switch (code) {
    case BASE_OPTION:
    case BASE_OPTION_VALUE:
    case BASE_UNSUPPORTED: return EXIT_USAGE;
    case BASE_UNKNOWN_FORMAT:
    case BASE_AMBIGUOUS: return EXIT_FORMAT;
    case BASE_IO: return EXIT_IO;
    case BASE_DAMAGED: return EXIT_DAMAGED;
    case BASE_LIMIT:
    case BASE_MEMORY: return EXIT_LIMIT;
    case BASE_BUG: return EXIT_BUG;
    default: break;
    }
    const struct driver *driver = driver_of_number((uint16_t)(code >> 16));
    int exit = code >> 16 && driver && driver->exit_of ? driver->exit_of(code) : 0;
    return exit ? exit : EXIT_NO;
}

static bool asked_for(const char *variable) /* set, and to something other than 0 */
{
    const char *value = getenv(variable);
    return value && *value && strcmp(value, "0");
}

bool cli_colour(const struct cli *c, int fd)
{
    const char *when = c->value[OPT_COLOR];
    if (when && !strcmp(when, "always")) return true;
    if (when && !strcmp(when, "never")) return false;
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    if (!(no && *no) && (asked_for("FORCE_COLOR") || asked_for("CLICOLOR_FORCE"))) return true;
    return !(no && *no) && !(term && !strcmp(term, "dumb")) && isatty(fd);
}

const struct palette *cli_palette(const struct cli *c)
{
    return palette_for(!c->out_is_file && cli_colour(c, STDOUT_FILENO));
}

static void write_stderr(penta_bytes text)
{
    const uint8_t *p = text.data;
    for (size_t left = text.size; left;) {
        ssize_t n = write(STDERR_FILENO, p, left);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return;
        p += n;
        left -= (size_t)n;
    }
}

void cli_stderr(const struct cli *c, penta_bytes text)
{
    struct writer safe = {0};
    writer_safe_lines(&safe, text, cli_colour(c, STDERR_FILENO));
    write_stderr(writer_view(&safe));
    writer_free(&safe);
}

void cli_error(struct cli *c, const char *file, const penta_error *err)
{
    struct finding finding = {.file = file, .error = err};
    cli_fail(c, cli_exit_of(err->code));
    if (c->value[OPT_JSON]) {
        diagnostic_keep(c, &finding);
        return;
    }
    writer_flush(&c->out);
    struct writer w = {0};
    diagnostic_print(&w, palette_for(cli_colour(c, STDERR_FILENO)), &finding);
    cli_stderr(c, writer_view(&w));
    writer_free(&w);
}

void cli_usage(struct cli *c, const char *note, const char *format, ...)
{
    penta_error err = {.code = BASE_OPTION};
    va_list args;
    va_start(args, format);
    vsnprintf(err.message, sizeof err.message, format, args);
    va_end(args);
    if (note) snprintf(err.note, sizeof err.note, "%s", note);
    cli_error(c, NULL, &err);
}

bool cli_number(struct cli *c, enum option option, uint64_t *value)
{
    const char *text = c->value[option];
    if (!text || number_parse_size(text, value)) return true;
    cli_usage(c, NULL, "--%s: '%.40s' is not a number", tool_options[option].name, text);
    return false;
}

/* ---- findings of one file ---- */

void finding_sink_init(struct finding_sink *sink, struct cli *c, const char *file)
{
    *sink = (struct finding_sink){.cli = c, .file = file, .max = 100};
    cli_number(c, OPT_MAX_FINDINGS, &sink->max);
}

void finding_sink_add(void *user, const penta_error *finding)
{
    struct finding_sink *s = user;
    uint64_t *counts[] = {&s->errors, &s->warnings, &s->infos};
    ++*counts[finding->severity];
    int exit = finding->severity == PENTA_ERROR ? cli_exit_of(finding->code) : EXIT_YES;
    if (exit > s->exit) s->exit = exit;
    bool quiet = finding->severity != PENTA_ERROR && s->cli->value[OPT_QUIET];
    if (s->errors + s->warnings + s->infos > s->max || quiet) return;
    struct kept_finding *more = realloc(s->kept, (s->count + 1) * sizeof *more);
    if (!more) return;
    s->kept = more;
    s->kept[s->count++] = (struct kept_finding){*finding, s->part ? s->part : s->file};
}

static const char *plural(uint64_t n) { return n == 1 ? "" : "s"; }

static void tell_findings(struct finding_sink *s, struct writer *text)
{
    struct wanted_place *wanted = calloc(s->count + 1, sizeof *wanted);
    struct located *where = calloc(s->count + 1, sizeof *where);
    for (size_t i = 0; wanted && i < s->count; i++)
        wanted[i] = (struct wanted_place){s->kept[i].error.offset, s->kept[i].error.decoded};
    bool placed = s->module && wanted && where && locate(s->module, wanted, s->count, where);
    for (size_t i = 0; i < s->count; i++) {
        struct finding f = {.file = s->kept[i].file,
                            .source = s->source,
                            .error = &s->kept[i].error,
                            .module = placed ? s->module : NULL,
                            .where = placed ? &where[i] : NULL};
        if (s->cli->value[OPT_JSON])
            diagnostic_keep(s->cli, &f);
        else
            diagnostic_print(text, palette_for(cli_colour(s->cli, STDERR_FILENO)), &f);
        if (placed) writer_free(&where[i].path);
    }
    free(wanted);
    free(where);
}

static void tell_totals(const struct finding_sink *s, struct writer *text)
{
    uint64_t all = s->errors + s->warnings + s->infos;
    if (all > s->max)
        writer_print(text, "%llu more not shown (--max-findings)\n",
                     (unsigned long long)(all - s->max));
    if (s->cli->value[OPT_QUIET] && !s->errors) return;
    writer_safe(text, bytes_of(s->file));
    writer_text(text, ": ");
    if (s->errors)
        writer_print(text, "%llu error%s", (unsigned long long)s->errors, plural(s->errors));
    if (s->warnings)
        writer_print(text, "%s%llu warning%s", s->errors ? ", " : "",
                     (unsigned long long)s->warnings, plural(s->warnings));
    if (s->infos)
        writer_print(text, "%s%llu info%s", s->errors + s->warnings ? ", " : "",
                     (unsigned long long)s->infos, plural(s->infos));
    writer_char(text, '\n');
}

void finding_sink_tell(struct finding_sink *s)
{
    struct writer text = {0};
    writer_flush(&s->cli->out);
    tell_findings(s, &text);
    cli_stderr(s->cli, writer_view(&text));
    writer_free(&text);
    finding_sink_drop(s);
}

void finding_sink_finish(struct finding_sink *s)
{
    struct cli *c = s->cli;
    struct writer text = {0};
    writer_flush(&c->out);
    tell_findings(s, &text);
    if (c->value[OPT_JSON] && s->uncounted) {
        /* the list of diagnostics is enough */
    } else if (c->value[OPT_JSON]) {
        json_uint(&c->json, "errors", s->errors);
        json_uint(&c->json, "warnings", s->warnings);
        if (s->infos) json_uint(&c->json, "infos", s->infos);
    } else if (s->errors + s->warnings + s->infos) {
        tell_totals(s, &text);
    }
    cli_stderr(c, writer_view(&text));
    writer_free(&text);
    finding_sink_drop(s);
}

void finding_sink_drop(struct finding_sink *s)
{
    free(s->kept);
    s->kept = NULL;
    s->count = 0;
}

/* ---- output ---- */

/* A closed pipe is no error: its reader has seen enough. */
static void write_stdout(penta_bytes piece)
{
    while (piece.size) {
        ssize_t n = write(STDOUT_FILENO, piece.data, piece.size);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && errno == EPIPE) _exit(EXIT_YES);
        if (n < 0) {
            fprintf(stderr, "penta: cannot write standard output: %s\n", strerror(errno));
            _exit(EXIT_IO);
        }
        piece.data += n;
        piece.size -= (size_t)n;
    }
}

/* Here every text of the tool goes through writer_safe_lines; documents are safe by their quoting.
 * What the program has printed before goes out first. */
static void to_stdout(void *user, penta_bytes piece)
{
    struct cli *c = user;
    bool colour = cli_colour(c, STDOUT_FILENO);
    writer_flush(&c->program_output);
    if (c->out_is_binary || c->value[OPT_JSON] || is_safe_lines(piece, colour)) {
        write_stdout(piece);
        return;
    }
    struct writer safe = {0};
    writer_safe_lines(&safe, piece, colour);
    write_stdout(writer_view(&safe));
    writer_free(&safe);
}

/* ---- what the program prints: unchanged to a pipe, filtered for a terminal ---- */

static void program_to_stdout(void *user, penta_bytes piece)
{
    (void)user;
    write_stdout(piece);
}

/* How many bytes at the end belong to a character that is not complete yet. */
static size_t unfinished(penta_bytes text)
{
    for (size_t n = 1; n <= 3 && n <= text.size; n++) {
        uint8_t first = text.data[text.size - n];
        if (first >= 0xc0) return (first >= 0xf0 ? 4u : first >= 0xe0 ? 3u : 2u) > n ? n : 0;
        if (first < 0x80) return 0;
    }
    return 0;
}

/* Appends to out what may be shown of the text and of what was held back before. */
static void filter_program(struct writer *held, penta_bytes text, bool last, struct writer *out)
{
    writer_bytes(held, text.data, text.size);
    penta_bytes all = writer_view(held);
    size_t keep = last ? 0 : unfinished(all);
    writer_safe_lines(out, bytes_slice(all, 0, all.size - keep), false);
    if (keep) memmove(held->out.data, all.data + all.size - keep, keep);
    held->out.size = keep;
}

static bool filtered(const struct cli *c, int fd)
{
    return !c->value[OPT_RAW_OUTPUT] && isatty(fd);
}

void cli_program_output(struct cli *c, penta_bytes text)
{
    writer_flush(&c->out);
    c->program_output.sink = program_to_stdout;
    if (filtered(c, STDOUT_FILENO))
        filter_program(&c->held[0], text, false, &c->program_output);
    else
        writer_bytes(&c->program_output, text.data, text.size);
}

void cli_program_errors(struct cli *c, penta_bytes text)
{
    struct writer safe = {0};
    if (filtered(c, STDERR_FILENO)) {
        filter_program(&c->held[1], text, false, &safe);
        text = writer_view(&safe);
    }
    write_stderr(text);
    writer_free(&safe);
}

void cli_flush(struct cli *c)
{
    writer_flush(&c->program_output);
    writer_flush(&c->out);
}

static void program_ended(struct cli *c)
{
    struct writer rest = {0};
    filter_program(&c->held[0], (penta_bytes){0}, true, &c->program_output);
    filter_program(&c->held[1], (penta_bytes){0}, true, &rest);
    writer_flush(&c->program_output);
    write_stderr(writer_view(&rest));
    writer_free(&rest);
    writer_free(&c->program_output);
    for (int i = 0; i < 2; i++) writer_free(&c->held[i]);
}

/* With --json and -o the file is written at once, and the document names it. */
static bool to_named_file(struct cli *c, penta_bytes bytes)
{
    if (!c->value[OPT_JSON] || !c->out_is_file) return false;
    if (output_write(c, c->value[OPT_OUTPUT], bytes)) {
        json_text(&c->json, "output", c->value[OPT_OUTPUT]);
        json_uint(&c->json, "size", bytes.size);
    }
    return true;
}

void cli_bytes(struct cli *c, penta_bytes bytes)
{
    if (to_named_file(c, bytes)) return;
    if (c->value[OPT_JSON]) {
        json_uint(&c->json, "size", bytes.size);
        json_hex(&c->json, "bytes", bytes);
    } else if (!c->value[OPT_OUTPUT] && isatty(STDOUT_FILENO)) {
        cli_usage(c, "-o FILE writes a file, -o - writes here all the same",
                  "the result is binary and standard output a terminal");
    } else {
        c->out_is_binary = true;
        writer_bytes(&c->out, bytes.data, bytes.size);
    }
}

bool cli_text_file(struct cli *c, penta_bytes text)
{
    if (to_named_file(c, text)) return true;
    if (!c->value[OPT_JSON]) writer_bytes(&c->out, text.data, text.size);
    return !c->value[OPT_JSON];
}

void cli_text(struct cli *c, penta_bytes text)
{
    if (!cli_text_file(c, text)) json_string(&c->json, "text", text);
}

static void open_output(struct cli *c)
{
    const char *path = c->value[OPT_OUTPUT];
    c->out_is_file = path && strcmp(path, "-");
    c->out.user = c;
    if (!c->out_is_file) c->out.sink = to_stdout;
    if (!c->value[OPT_JSON]) return;
    char schema[40];
    snprintf(schema, sizeof schema, "penta.%s/1", commands[c->command].name);
    c->json.out = &c->out;
    json_object(&c->json, NULL);
    json_text(&c->json, "schema", schema);
}

static void close_output(struct cli *c)
{
    if (c->value[OPT_JSON]) {
        while (c->json.depth > 1) json_end(&c->json);
        if (c->diagnostic_count || c->exit != EXIT_YES) diagnostics_json(c);
        json_bool(&c->json, "ok", c->exit == EXIT_YES);
        json_uint(&c->json, "exit", (uint64_t)c->exit);
        json_finish(&c->json);
    }
    if (c->value[OPT_JSON] && !c->document_is_result) c->out.sink = to_stdout;
    penta_error err = {0};
    if (!writer_ok(&c->out, &err)) {
        fprintf(stderr, "penta: %s\n", err.message);
        cli_fail(c, EXIT_LIMIT);
    } else if (c->out.sink) {
        program_ended(c);
        writer_flush(&c->out);
    } else if (c->value[OPT_OUTPUT] && (c->exit == EXIT_YES || c->out.out.size)) {
        c->value[OPT_JSON] = NULL; /* the document is closed: an error is told on standard error */
        output_write(c, c->value[OPT_OUTPUT], writer_view(&c->out));
    }
}

static void (*const run[COMMANDS])(struct cli *c) = {
#define COMMAND(name, ...) [COMMAND_##name] = command_##name,
#include "cli/commands.def"
};

int cli_main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN);
    struct cli c = {.program = argv[0]};
    bool parsed = cli_parse(&c, argc, argv);
    open_output(&c);
    output_watch(&c);
    if (!parsed) {
        /* the error has been reported */
    } else if (c.value[OPT_HELP]) {
        help_for(&c, !strcmp(c.value[OPT_HELP], "short"));
    } else {
        run[c.command](&c);
    }
    close_output(&c);
    output_unwatch(&c);
    writer_free(&c.out);
    free(c.format_options);
    free(c.words);
    free(c.diagnostics);
    return c.exit;
}
