/* Implements a line-oriented debugger over penta/debug.h. It reads commands and finds them in
 * commands.def. */
#include "cli/debug/shell.h"
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/bytes.h"
#include "base/file/file.h"
#include "base/sanitize.h"
#include "base/suggest.h"
#include "cli/machine/line.h"
#include "cli/output.h"
#include "cli/terminal/highlight.h"

static const struct verb {
    const char *name, *alias, *arguments, *help, *more;
    void (*run)(struct shell *s, const char *rest);
} verbs[] = {
#define COMMAND(function, name, alias, arguments, help, more)                                      \
    {name, alias, arguments, help, more, function},
#include "cli/debug/commands.def"
};

enum { VERBS = sizeof verbs / sizeof *verbs };

const struct palette *shell_palette(const struct shell *s)
{
    /* A transcript for a document has no colours, whatever standard output is. */
    return s->cli->value[OPT_JSON] ? &palette_plain : cli_palette(s->cli);
}

void shell_error(struct shell *s, const penta_error *err)
{
    if (!err->code) return;
    writer_safe_text(&s->cli->out, err->message);
    if (*err->note) {
        writer_text(&s->cli->out, "; ");
        writer_safe_text(&s->cli->out, err->note);
    }
    writer_char(&s->cli->out, '\n');
}

bool shell_number(struct shell *s, const char *text, uint64_t *value)
{
    penta_value v;
    penta_error err;
    if (!*text) return true;
    if (!penta_vm_eval(shell_vm(s), text, &v, &err)) {
        shell_error(s, &err);
        return false;
    }
    *value = v.kind == PENTA_FLOAT ? (uint64_t)v.as.f : v.as.u;
    return true;
}

bool shell_count(struct shell *s, const char *text, uint64_t *value)
{
    uint64_t n = *value;
    if (!shell_number(s, text, &n)) return false;
    if (n > INT64_MAX) {
        writer_text(&s->cli->out, "a number of times, or of steps, is not negative\n");
        return false;
    }
    *value = n;
    return true;
}

bool shell_insn(struct shell *s, uint64_t pc, struct writer *out)
{
    const penta_module *module = s->machine.in.module;
    penta_buffer text = {0};
    bool found = penta_print_at(module, pc, &text);
    if (found)
        highlight_text(out, shell_palette(s), penta_module_format(module),
                       (penta_bytes){text.data, text.size});
    penta_buffer_free(&text);
    return found;
}

void shell_where(struct shell *s)
{
    struct writer *out = &s->cli->out;
    const char *hit = penta_debugger_watch_hit(s->debugger);
    unsigned number = penta_debugger_point_hit(s->debugger);
    const penta_point *p = NULL;
    for (size_t i = 0; number && (p = penta_debugger_point_at(s->debugger, i)); i++)
        if (p->number == number) break;
    penta_point_kind kind = PENTA_POINT_WATCH;
    if (p && p->kind != PENTA_POINT_BREAK) {
        hit = p->what;
        kind = p->kind;
    }
    if (hit) {
        writer_print(out, "%s: ", point_word(kind));
        writer_safe_text(out, hit);
        writer_char(out, '\n');
    } else if (s->stop.kind != PENTA_STOP_FUEL) {
        stop_print(out, &s->machine, &s->stop);
    }
    writer_print(out, "step %" PRIu64 "  pc %" PRIu64 "  ", penta_session_steps(s->machine.session),
                 s->stop.pc);
    if (!shell_insn(s, s->stop.pc, out)) writer_text(out, "(end)");
    writer_char(out, '\n');
    show_source(s);
}

void do_save(struct shell *s, const char *rest)
{
    struct writer *out = &s->cli->out;
    penta_buffer bytes = {0};
    penta_error err = {0};
    if (!*rest)
        writer_text(out, "save needs the name of a file\n");
    else if (!penta_vm_save(shell_vm(s), &bytes, &err))
        shell_error(s, &err);
    else if (output_write(s->cli, rest, (penta_bytes){bytes.data, bytes.size}))
        writer_print(out, "%zu bytes to %s\n", bytes.size, rest);
    penta_buffer_free(&bytes);
}

void do_quit(struct shell *s, const char *rest)
{
    (void)rest;
    s->quit = true;
}

const char *shell_verb(size_t i) { return i < VERBS ? verbs[i].name : NULL; }

static const struct verb *shell_find(const char *word, size_t size, struct suggest *near)
{
    for (size_t i = 0; i < VERBS; i++)
        if (strlen(verbs[i].alias) == size && !strncmp(verbs[i].alias, word, size))
            return &verbs[i];
    for (size_t i = 0; i < VERBS; i++) {
        if (!strncmp(verbs[i].name, word, size)) return &verbs[i];
        suggest_offer(near, verbs[i].name);
    }
    return NULL;
}

const char *shell_arguments(const char *word, size_t size)
{
    struct suggest near = {0};
    const struct verb *v = shell_find(word, size, &near);
    return v ? v->arguments : "";
}

static void shell_unknown(struct shell *s, const char *word, size_t size,
                          const struct suggest *near)
{
    writer_print(&s->cli->out, "unknown command '%.*s'", (int)(size > 40 ? 40 : size), word);
    if (near->best) writer_print(&s->cli->out, "; did you mean '%s'?", near->best);
    writer_text(&s->cli->out, " (help lists them)\n");
}

void do_help(struct shell *s, const char *rest)
{
    struct writer *out = &s->cli->out;
    struct suggest near = {.word = bytes_of(rest)};
    if (!*rest) {
        for (size_t i = 0; i < VERBS; i++)
            writer_print(out, "  %-10s %-18s %s\n", verbs[i].name, verbs[i].arguments,
                         verbs[i].help);
        return;
    }
    const struct verb *v = shell_find(rest, strlen(rest), &near);
    if (!v) {
        shell_unknown(s, rest, strlen(rest), &near);
        return;
    }
    writer_print(out, "%s %s\n  %s\n", v->name, v->arguments, v->help);
    if (*v->more) writer_print(out, "  %s\n", v->more);
    if (*v->alias) writer_print(out, "  %s is another name for it.\n", v->alias);
}

/* Executes a line. The options of a command may follow it without a space, as in x/8xg and
 * print/x. */
void shell_line(struct shell *s, char *line)
{
    while (isspace((unsigned char)*line)) line++;
    size_t size = strlen(line);
    while (size && isspace((unsigned char)line[size - 1])) line[--size] = 0;
    if (*line == '#') return;
    size_t word = strcspn(line, " \t/");
    char *rest = line + word;
    while (isspace((unsigned char)*rest)) rest++;
    if (!size) {
        do_step(s, "");
        return;
    }
    if (word == strlen("reverse") && !strncmp(line, "reverse", word)) rest = line + size;
    struct suggest near = {.word = {(const uint8_t *)line, word}};
    const struct verb *v = word ? shell_find(line, word, &near) : NULL;
    if (!v && !strncmp(line, "reverse-continue", word) && word > 7) v = shell_find("rc", 2, &near);
    if (!v)
        shell_unknown(s, line, word, &near);
    else if (!*rest && *v->arguments && *v->arguments != '[') /* The command needs an argument. */
        writer_print(&s->cli->out, "%s %s\n", v->name, v->arguments);
    else
        v->run(s, rest);
}

void do_source(struct shell *s, const char *rest)
{
    enum { LARGEST = 1 << 20, NESTED = 8 };
    penta_buffer text = {0};
    penta_error err = {0};
    if (s->scripts == NESTED) {
        writer_text(&s->cli->out, "scripts are nested too deeply\n");
        return;
    }
    if (!file_read(rest, LARGEST, &text, &err)) {
        shell_error(s, &err);
        return;
    }
    s->scripts++;
    for (size_t at = 0; at < text.size && !s->quit;) {
        const uint8_t *end = memchr(text.data + at, '\n', text.size - at);
        size_t size = end ? (size_t)(end - text.data) - at : text.size - at;
        char *line = strndup((const char *)text.data + at, size);
        /* An empty line repeats the last command when a person types it. In a script it does
         * nothing. */
        if (line && line[strspn(line, " \t\r")]) shell_line(s, line);
        free(line);
        at += size + 1;
    }
    s->scripts--;
    penta_buffer_free(&text);
}

/* Saves the effects of the program when it is at its end, even if it came back there by steps. */
static void save_state(struct shell *s)
{
    penta_stop stop = s->stop;
    if (stop.kind == PENTA_STOP_FUEL) penta_vm_run(shell_vm(s), 0, &stop);
    machine_finish(s->cli, &s->machine, &stop, false);
    machine_save_state(s->cli, &s->machine);
}

static const char PROMPT[] = "(penta) ";

/* Prints the trace of machines that a host call runs inside the machine. */
static void inner_lines(void *user, const penta_call *call)
{
    struct shell *s = user;
    writer_bytes(&s->cli->out, call->output.data, call->output.size);
}

static void ignore_call(void *user, const penta_call *call) { (void)user, (void)call; }

static void log_line(void *user, unsigned number, penta_bytes text)
{
    struct shell *s = user;
    (void)number;
    writer_safe(&s->cli->out, text);
    writer_char(&s->cli->out, '\n');
}

static void shell_converse(struct shell *s)
{
    struct cli *c = s->cli;
    bool prompt = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && !c->value[OPT_JSON];
    if (c->value[OPT_SCRIPT]) do_source(s, c->value[OPT_SCRIPT]);
    struct line_reader *reader = line_open(PROMPT, shell_complete, s, prompt);
    while (reader && !s->quit) {
        if (!line_prompts(reader)) writer_text(&c->out, PROMPT);
        writer_flush(&c->out);
        char *line = line_read(reader);
        if (!line) break;
        shell_line(s, line);
    }
    line_close(reader);
}

bool shell_open(struct shell *s, struct cli *c)
{
    penta_error err = {0};
    *s = (struct shell){.cli = c};
    if (!machine_open(c, &s->machine)) return false;
    s->debugger = penta_debugger_new(s->machine.session, &err);
    if (!s->debugger) {
        cli_error(c, s->machine.in.name, &err);
        machine_close(&s->machine);
        return false;
    }
    penta_debugger_on_log(s->debugger, log_line, s);
    penta_debugger_back(s->debugger, 0, &s->stop, &err);
    registers_moved(s);
    return true;
}

void shell_close(struct shell *s)
{
    penta_debugger_free(s->debugger);
    save_state(s);
    penta_buffer_free(&s->source);
    free(s->source_name);
    machine_close(&s->machine);
}

void command_DEBUG(struct cli *c)
{
    struct shell s;
    if (!shell_open(&s, c)) return;
    penta_session_on_call(s.machine.session, machine_shows_inner(c) ? inner_lines : ignore_call,
                          &s);
    if (c->value[OPT_JSON]) json_text(&c->json, "file", s.machine.in.name);
    struct writer document = c->out; /* The transcript becomes a member of this document. */
    if (c->value[OPT_JSON]) c->out = (struct writer){0};
    shell_where(&s);
    shell_converse(&s);
    if (c->value[OPT_JSON]) {
        struct writer text = c->out;
        c->out = document;
        json_string(&c->json, "transcript", writer_view(&text));
        json_uint(&c->json, "pc", s.stop.pc);
        json_uint(&c->json, "steps", penta_session_steps(s.machine.session));
        state_json(&c->json, shell_vm(&s));
        writer_free(&text);
    }
    shell_close(&s);
}
