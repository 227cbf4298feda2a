/* Implements what every command shares: exit codes, errors, the JSON document, output. */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/bytes.h"
#include "base/number.h"
#include "base/sanitize.h"
#include "cli/batch/batch.h"
#include "cli/output.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/terminal.h"
#include "cli/terminal/wrap.h"

void cli_fail(struct cli *c, int exit)
{
    if (exit > c->exit) c->exit = exit;
}

int cli_exit_of(uint32_t code)
{
    static const int exits[PENTA_CLASSES] = {
        [PENTA_CLASS_INVALID] = EXIT_NO,      [PENTA_CLASS_USAGE] = EXIT_USAGE,
        [PENTA_CLASS_FORMAT] = EXIT_FORMAT,   [PENTA_CLASS_IO] = EXIT_IO,
        [PENTA_CLASS_DAMAGED] = EXIT_DAMAGED, [PENTA_CLASS_KEY] = EXIT_KEY,
        [PENTA_CLASS_LIMIT] = EXIT_LIMIT,     [PENTA_CLASS_BUG] = EXIT_BUG,
    };
    const penta_rule *rule = penta_rule_find(code);
    return rule ? exits[rule->kind] : EXIT_NO;
}

void cli_error(struct cli *c, const char *file, const penta_error *err)
{
    struct finding finding = {.file = file, .error = err};
    cli_fail(c, cli_exit_of(err->code));
    outcomes_error(c, &finding);
    if (c->value[OPT_JSON]) {
        diagnostic_keep(c, &finding);
        return;
    }
    writer_flush(&c->out);
    struct writer w = {0};
    diagnostic_print(&w, cli_palette_of(c, STDERR_FILENO), wrap_width_of_errors(c), &finding);
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

uint64_t cli_number(const struct cli *c, enum option option, uint64_t missing)
{
    return c->value[option] ? value_number(c->value[option]) : missing;
}

int cli_schema(const struct cli *c)
{
    bool has_two = tool_options[OPT_SCHEMA].commands >> c->command & 1;
    return has_two && !cli_is(c, OPT_SCHEMA, "1") ? 2 : 1;
}

double cli_seconds(const struct cli *c, enum option option, double missing)
{
    return c->value[option] ? strtod(c->value[option], NULL) : missing;
}

bool cli_is(const struct cli *c, enum option option, const char *word)
{
    return c->value[option] && words_equal(bytes_of(word), bytes_of(c->value[option]));
}

void finding_sink_init(struct finding_sink *sink, struct cli *c, const char *file)
{
    *sink = (struct finding_sink){.cli = c, .file = file};
    sink->max = cli_number(c, OPT_MAX_FINDINGS, 100);
}

/* Tells whether a finding is not shown because of --quiet. The file of --sarif has it
 * nevertheless. */
static bool sink_is_quiet(const struct finding_sink *s, const penta_error *finding)
{
    return finding->severity != PENTA_ERROR && s->cli->value[OPT_QUIET];
}

void finding_sink_add(void *user, const penta_error *finding)
{
    struct finding_sink *s = user;
    uint64_t *counts[] = {&s->errors, &s->warnings, &s->infos};
    ++*counts[finding->severity];
    int exit = finding->severity == PENTA_ERROR ? cli_exit_of(finding->code) : EXIT_YES;
    if (exit > s->exit) s->exit = exit;
    if (s->errors + s->warnings + s->infos > s->max) return;
    if (sink_is_quiet(s, finding) && !s->cli->sarif) return;
    struct kept_finding *more = realloc(s->kept, (s->count + 1) * sizeof *more);
    if (!more) return;
    s->kept = more;
    s->kept[s->count++] = (struct kept_finding){*finding, s->part ? s->part : s->file};
}

static const char *cli_plural(uint64_t n) { return n == 1 ? "" : "s"; }

static void tell_findings(struct finding_sink *s, struct writer *text)
{
    penta_error *errors = calloc(s->count + 1, sizeof *errors), err = {0};
    penta_place *where = calloc(s->count + 1, sizeof *where);
    penta_buffer paths = {0};
    for (size_t i = 0; errors && i < s->count; i++) errors[i] = s->kept[i].error;
    bool placed = s->module && errors && where &&
                  penta_places(s->module, errors, s->count, where, &paths, &err);
    for (size_t i = 0; i < s->count; i++) {
        struct finding f = {.file = s->kept[i].file,
                            .source = s->source,
                            .error = &s->kept[i].error,
                            .module = placed ? s->module : NULL,
                            .where = placed ? &where[i] : NULL};
        if (placed && where[i].found) f.path = (const char *)paths.data + where[i].path;
        outcomes_finding(s->cli, &f);
        if (sink_is_quiet(s, f.error)) continue;
        if (s->cli->value[OPT_JSON])
            diagnostic_keep(s->cli, &f);
        else
            diagnostic_print(text, cli_palette_of(s->cli, STDERR_FILENO),
                             wrap_width_of_errors(s->cli), &f);
    }
    uint64_t all = s->errors + s->warnings + s->infos;
    if (all > s->max) outcomes_omitted(s->cli, s->file, all - s->max);
    penta_buffer_free(&paths);
    free(errors);
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
        writer_print(text, "%llu error%s", (unsigned long long)s->errors, cli_plural(s->errors));
    if (s->warnings)
        writer_print(text, "%s%llu warning%s", s->errors ? ", " : "",
                     (unsigned long long)s->warnings, cli_plural(s->warnings));
    if (s->infos)
        writer_print(text, "%s%llu info%s", s->errors + s->warnings ? ", " : "",
                     (unsigned long long)s->infos, cli_plural(s->infos));
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
        /* The list of diagnostics has these numbers already. */
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

/* Writes the file at once when --json and -o are given. The document names the file. */
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

/* Tells whether the command is about one file but got several. It then runs for each, and the
 * documents become a list. */
static bool lists_files(const struct cli *c)
{
    return commands[c->command].inputs == INPUTS_EACH && c->word_count > 1;
}

static void open_output(struct cli *c)
{
    const char *path = c->value[OPT_OUTPUT];
    c->out_is_file = path && strcmp(path, "-");
    c->out.user = c;
    if (!c->out_is_file && !c->captured) c->out.sink = terminal_text;
    if (!c->value[OPT_JSON]) return;
    char schema[40];
    const char *kind = lists_files(c) ? "-list" : c->value[OPT_CODE] ? "-code" : "";
    snprintf(schema, sizeof schema, "penta.%s%s/%d", commands[c->command].name, kind,
             cli_schema(c));
    c->json.out = &c->out;
    json_object(&c->json, NULL);
    json_text(&c->json, "schema", schema);
}

static void close_output(struct cli *c)
{
    if (c->value[OPT_JSON]) {
        outcomes_close(c);
        while (c->json.depth > 1) json_end(&c->json);
        if (c->diagnostic_count || c->exit != EXIT_YES) diagnostics_json(c);
        json_bool(&c->json, "ok", c->exit == EXIT_YES);
        json_uint(&c->json, "exit", (uint64_t)c->exit);
        json_finish(&c->json);
    }
    if (c->captured) return;
    if (c->value[OPT_JSON] && !c->document_is_result) c->out.sink = terminal_text;
    penta_error err = {0};
    if (!writer_ok(&c->out, &err)) {
        terminal_say(c, "%s", err.message);
        cli_fail(c, EXIT_LIMIT);
    } else if (c->out.sink) {
        terminal_ended(c);
    } else if (c->value[OPT_OUTPUT] && (c->exit == EXIT_YES || c->out.out.size)) {
        c->value[OPT_JSON] = NULL; /* The document is closed, so an error goes to standard error. */
        output_write(c, c->value[OPT_OUTPUT], writer_view(&c->out));
    }
    outcomes_close(c);
}

static void (*const run[COMMANDS])(struct cli *c) = {
#define COMMAND(name, ...) [COMMAND_##name] = command_##name,
#include "cli/commands.def"
};

static void run_document(struct cli *c, const char *word)
{
    struct cli one = *c;
    one.words = &word;
    one.word_count = 1;
    one.out = (struct writer){0};
    one.json = (struct json){0};
    one.diagnostics = NULL;
    one.diagnostic_count = 0;
    one.exit = EXIT_YES;
    cli_document(&one, NULL);
    json_raw(&c->json, NULL, writer_view(&one.out));
    c->out.failed |= one.out.failed;
    cli_fail(c, one.exit);
    cli_document_free(&one);
    output_watch(c);
}

/* Runs the same command for each of several files. */
static void run_each_file(struct cli *c)
{
    const char **words = c->words;
    size_t count = c->word_count;
    if (c->out_is_file) {
        cli_usage(c, "penta batch --files-to writes a file for each", "-o is for one file");
        return;
    }
    if (c->value[OPT_JSON]) json_list(&c->json, "files");
    c->word_count = 1;
    for (size_t i = 0; i < count; i++) {
        c->words = words + i;
        if (c->value[OPT_JSON]) {
            run_document(c, words[i]);
            continue;
        }
        writer_print(&c->out, "%s==> ", i ? "\n" : "");
        writer_safe(&c->out, bytes_of(words[i]));
        writer_text(&c->out, " <==\n");
        run[c->command](c);
    }
    c->words = words;
    c->word_count = count;
    if (c->value[OPT_JSON]) json_end(&c->json);
}

static void run_command(struct cli *c)
{
    if (lists_files(c))
        run_each_file(c);
    else
        run[c->command](c);
}

void cli_document(struct cli *c, const penta_error *refused)
{
    c->captured = true;
    c->touched = (struct file_list){0};
    open_output(c);
    output_watch(c);
    if (refused)
        cli_error(c, c->words[0], refused);
    else if (outputs_distinct(c))
        run[c->command](c);
    close_output(c);
    output_unwatch(c);
}

void cli_document_free(struct cli *c)
{
    writer_free(&c->out);
    writer_free(&c->codes);
    free(c->diagnostics);
}

const char *cli_exit_name(int exit)
{
    static const char *const names[] = {
#define EXIT(name, code, meaning) [code] = #name,
#include "cli/exits.def"
    };
    return exit >= 0 && (size_t)exit < sizeof names / sizeof *names ? names[exit] : NULL;
}

int cli_main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "batch-worker")) return batch_worker(argc, argv);
    signal(SIGPIPE, SIG_IGN);
    struct cli c = {.program = argv[0]};
    terminal_open(&c);
    bool parsed = cli_parse(&c, argc, argv);
    open_output(&c);
    terminal_bound(&c);
    output_watch(&c);
    if (!parsed) {
        /* The error has been reported. */
    } else if (c.value[OPT_HELP]) {
        help_for(&c, !strcmp(c.value[OPT_HELP], "short"));
    } else if (outputs_distinct(&c) && outcomes_open(&c)) {
        run_command(&c);
    }
    progress_end(&c);
    close_output(&c);
    output_unwatch(&c);
    writer_free(&c.out);
    free(c.diagnostics);
    cli_parse_free(&c);
    return c.exit;
}
