/* A line-oriented debugger over penta/session.h. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/bytes.h"
#include "base/number.h"
#include "base/sanitize.h"
#include "base/suggest.h"
#include "cli/terminal/highlight.h"
#include "cli/machine/line.h"
#include "cli/machine/machine.h"
#include "cli/output.h"

struct shell {
    struct cli *cli;
    struct machine machine;
    penta_debugger *debugger;
    penta_stop stop; /* the last one; where the machine is */
    bool quit;
};

static penta_vm *vm_of(const struct shell *s) { return penta_session_vm(s->machine.session); }

/* The instruction at pc in colours; false: there is none. */
static bool print_insn(struct shell *s, uint64_t pc, struct writer *out)
{
    const penta_module *module = s->machine.in.module;
    penta_buffer text = {0};
    bool found = penta_print_at(module, pc, &text);
    /* A transcript for a document has none, whatever standard output is. */
    const struct palette *p = s->cli->value[OPT_JSON] ? &palette_plain : cli_palette(s->cli);
    if (found) highlight(out, p, penta_module_format(module), (penta_bytes){text.data, text.size});
    penta_buffer_free(&text);
    return found;
}

static void where(struct shell *s)
{
    struct writer *out = &s->cli->out;
    const char *hit = penta_debugger_hit(s->debugger);
    if (hit) {
        writer_text(out, "changed: ");
        writer_safe_text(out, hit);
        writer_char(out, '\n');
    } else if (s->stop.kind != PENTA_STOP_FUEL) {
        stop_print(out, s->machine.session, &s->stop);
    }
    writer_print(out, "step %" PRIu64 "  pc %" PRIu64 "  ", penta_session_steps(s->machine.session),
                 s->stop.pc);
    if (!print_insn(s, s->stop.pc, out)) writer_text(out, "(end)");
    writer_char(out, '\n');
}

static void tell_error(struct shell *s, const penta_error *err)
{
    if (err->code) writer_print(&s->cli->out, "%s\n", err->message);
}

static bool number(struct shell *s, const char *text, uint64_t *value)
{
    if (!*text || number_parse(text, value)) return true;
    writer_print(&s->cli->out, "'%s' is not a number\n", text);
    return false;
}

static void go(struct shell *s, uint64_t n)
{
    penta_error err = {0};
    machine_arm(s->cli, &s->machine);
    penta_debugger_forward(s->debugger, n, &s->stop, &err);
    machine_disarm(&s->machine);
    where(s);
    tell_error(s, &err);
}

static void go_to(struct shell *s, uint64_t step)
{
    penta_error err = {0};
    machine_arm(s->cli, &s->machine);
    if (penta_debugger_goto(s->debugger, step, &s->stop, &err)) s->stop.kind = PENTA_STOP_FUEL;
    machine_disarm(&s->machine);
    where(s);
    tell_error(s, &err);
}

static void do_step(struct shell *s, const char *rest)
{
    uint64_t n = 1;
    if (number(s, rest, &n)) go(s, n);
}

static void do_back(struct shell *s, const char *rest)
{
    uint64_t n = 1, at = penta_session_steps(s->machine.session);
    if (number(s, rest, &n)) go_to(s, n < at ? at - n : 0);
}

static void do_goto(struct shell *s, const char *rest)
{
    uint64_t n = 0;
    if (number(s, rest, &n)) go_to(s, n);
}

static void do_continue(struct shell *s, const char *rest)
{
    (void)rest;
    go(s, UINT64_MAX);
}

static void do_break(struct shell *s, const char *rest)
{
    struct writer *out = &s->cli->out;
    uint64_t pc = 0, pcs[64];
    size_t count = penta_debugger_marks(s->debugger, pcs, 64);
    if (!*rest) {
        for (size_t i = 0; i < count && i < 64; i++)
            writer_print(out, "break at %" PRIu64 "\n", pcs[i]);
        return;
    }
    if (!number(s, rest, &pc)) return;
    if (penta_debugger_mark(s->debugger, pc, true))
        writer_print(out, "break at %" PRIu64 "\n", pc);
    else
        writer_print(out, "no instruction at %" PRIu64 "\n", pc);
}

static void do_watch(struct shell *s, const char *rest)
{
    struct writer *out = &s->cli->out;
    const char *what;
    penta_error err = {0};
    if (*rest && !penta_debugger_watch(s->debugger, rest, true, &err)) {
        tell_error(s, &err);
        return;
    }
    for (size_t i = 0; (what = penta_debugger_watch_at(s->debugger, i)); i++) {
        if (*rest && strcmp(rest, what)) continue;
        writer_text(out, "watch ");
        writer_safe_text(out, what);
        writer_char(out, '\n');
    }
}

/* One breakpoint or watch, or all of them. */
static void do_delete(struct shell *s, const char *rest)
{
    uint64_t pc = 0, first;
    const char *what;
    penta_error err = {0};
    if (*rest == '/' || strchr(rest, ':')) {
        penta_debugger_watch(s->debugger, rest, false, &err);
        tell_error(s, &err);
    } else if (*rest) {
        if (number(s, rest, &pc)) penta_debugger_mark(s->debugger, pc, false);
    } else {
        while (penta_debugger_marks(s->debugger, &first, 1))
            penta_debugger_mark(s->debugger, first, false);
        while ((what = penta_debugger_watch_at(s->debugger, 0)))
            penta_debugger_watch(s->debugger, what, false, &err);
    }
}

static void do_registers(struct shell *s, const char *rest)
{
    (void)rest;
    state_print(s->cli, vm_of(s));
}

static void do_memory(struct shell *s, const char *rest)
{
    struct writer *out = &s->cli->out;
    char *text = strdup(rest), *length = text ? strchr(text, ' ') : NULL;
    uint64_t address = 0, size = 64;
    if (length) *length++ = 0;
    if (text && number(s, text, &address) && (!length || number(s, length, &size))) {
        if (size > 65536) size = 65536;
        for (uint64_t at = 0; at < size; at += 16) {
            uint8_t row[16];
            size_t n = size - at < 16 ? (size_t)(size - at) : 16;
            while (n && !penta_vm_peek(vm_of(s), address + at, row, n)) n--;
            if (!n) {
                writer_print(out, "nothing is mapped at 0x%" PRIx64 "\n", address + at);
                break;
            }
            writer_print(out, "%012" PRIx64 " ", address + at);
            for (size_t i = 0; i < n; i++) writer_print(out, " %02x", row[i]);
            writer_print(out, "%*s  ", (int)(16 - n) * 3, "");
            for (size_t i = 0; i < n; i++)
                writer_char(out, row[i] >= 0x20 && row[i] < 0x7f ? (char)row[i] : '.');
            writer_char(out, '\n');
        }
    }
    free(text);
}

static void do_list(struct shell *s, const char *rest)
{
    (void)rest;
    struct writer *out = &s->cli->out;
    uint64_t pc = s->stop.pc;
    struct writer text = {0};
    for (int shown = 0; shown < 10 && print_insn(s, pc, &text); shown++) {
        writer_print(out, "%c %6" PRIu64 "  ", shown ? ' ' : '>', pc);
        writer_bytes(out, text.out.data, text.out.size);
        writer_char(out, '\n');
        text.out.size = 0;
        if (!penta_next_pc(s->machine.in.module, pc, &pc)) break;
    }
    writer_free(&text);
}

static void do_where(struct shell *s, const char *rest)
{
    (void)rest;
    where(s);
}

static void do_save(struct shell *s, const char *rest)
{
    struct writer *out = &s->cli->out;
    penta_buffer bytes = {0};
    penta_error err = {0};
    if (!*rest)
        writer_text(out, "save needs the name of a file\n");
    else if (!penta_vm_save(vm_of(s), &bytes, &err))
        writer_print(out, "%s\n", err.message);
    else if (output_write(s->cli, rest, (penta_bytes){bytes.data, bytes.size}))
        writer_print(out, "%zu bytes to %s\n", bytes.size, rest);
    penta_buffer_free(&bytes);
}

static void do_quit(struct shell *s, const char *rest)
{
    (void)rest;
    s->quit = true;
}

static void do_help(struct shell *s, const char *rest);

static const struct {
    const char *name, *arguments, *help;
    void (*run)(struct shell *s, const char *rest);
} verbs[] = {
    {"step", "[N]", "execute one instruction, or N", do_step},
    {"break", "[PC]", "stop before this instruction; list the breakpoints", do_break},
    {"watch", "[WHAT]", "stop when /PATH, /PATH=VALUE or ADDR:LEN changes; list them", do_watch},
    {"back", "[N]", "undo one instruction, or N", do_back},
    {"continue", "", "run to a breakpoint or the end", do_continue},
    {"goto", "STEP", "to the state after that many steps, forwards or backwards", do_goto},
    {"delete", "[PC|WHAT]", "remove a breakpoint or watch, or all", do_delete},
    {"registers", "", "the state of the machine", do_registers},
    {"memory", "ADDR [LEN]", "bytes of memory", do_memory},
    {"list", "", "the next instructions", do_list},
    {"where", "", "step, pc and instruction", do_where},
    {"save", "FILE", "the machine as a snapshot", do_save},
    {"help", "", "this list", do_help},
    {"quit", "", "leave", do_quit},
};

enum { VERBS = sizeof verbs / sizeof *verbs };

static void do_help(struct shell *s, const char *rest)
{
    (void)rest;
    for (size_t i = 0; i < VERBS; i++)
        writer_print(&s->cli->out, "  %-9s %-11s %s\n", verbs[i].name, verbs[i].arguments,
                     verbs[i].help);
}

/* A verb may be abbreviated; the first match in the table counts. An empty line is a step. */
static void execute(struct shell *s, char *line)
{
    while (isspace((unsigned char)*line)) line++;
    size_t size = strlen(line);
    while (size && isspace((unsigned char)line[size - 1])) line[--size] = 0;
    char *rest = line + strcspn(line, " \t");
    size_t word = (size_t)(rest - line);
    while (isspace((unsigned char)*rest)) rest++;
    if (!word) {
        do_step(s, "");
        return;
    }
    struct suggest near = {.word = {(const uint8_t *)line, word}};
    for (size_t i = 0; i < VERBS; i++) {
        if (!strncmp(verbs[i].name, line, word)) {
            verbs[i].run(s, rest);
            return;
        }
        suggest_offer(&near, verbs[i].name);
    }
    writer_print(&s->cli->out, "unknown command '%.*s'", (int)(word > 40 ? 40 : word), line);
    if (near.best) writer_print(&s->cli->out, "; did you mean '%s'?", near.best);
    writer_text(&s->cli->out, " (help lists them)\n");
}

/* The program's effects are saved when it is at its end, even if it came back there by steps. */
static void save_state(struct shell *s)
{
    penta_stop stop = s->stop;
    if (stop.kind == PENTA_STOP_FUEL) penta_vm_run(vm_of(s), 0, &stop);
    machine_finish(s->cli, &s->machine, &stop, false);
    machine_save_state(s->cli, &s->machine);
}

static const char PROMPT[] = "(penta) ";

/* Machines inside the machine, as the host call runs them. */
static void inner_lines(void *user, const penta_call *call)
{
    struct shell *s = user;
    writer_bytes(&s->cli->out, call->output.data, call->output.size);
}

static void ignore_call(void *user, const penta_call *call) { (void)user, (void)call; }

static void converse(struct shell *s)
{
    struct cli *c = s->cli;
    bool prompt = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && !c->value[OPT_JSON];
    const char *words[VERBS + 1] = {0};
    for (size_t i = 0; i < VERBS; i++) words[i] = verbs[i].name;
    struct line_reader *reader = line_open(PROMPT, words, prompt);
    while (reader && !s->quit) {
        if (!line_prompts(reader)) writer_text(&c->out, PROMPT);
        writer_flush(&c->out);
        char *line = line_read(reader);
        if (!line) break;
        execute(s, line);
    }
    line_close(reader);
}

void command_DEBUG(struct cli *c)
{
    struct shell s = {.cli = c};
    penta_error err = {0};
    if (!machine_open(c, &s.machine)) return;
    s.debugger = penta_debugger_new(s.machine.session, &err);
    if (!s.debugger) {
        cli_error(c, s.machine.in.name, &err);
        machine_close(&s.machine);
        return;
    }
    penta_session_on_call(s.machine.session, machine_shows_inner(c) ? inner_lines : ignore_call,
                          &s);
    if (c->value[OPT_JSON]) json_text(&c->json, "file", s.machine.in.name);
    struct writer document = c->out; /* the transcript becomes a member of it */
    if (c->value[OPT_JSON]) c->out = (struct writer){0};
    penta_debugger_goto(s.debugger, 0, &s.stop, &err);
    where(&s);
    converse(&s);
    if (c->value[OPT_JSON]) {
        struct writer text = c->out;
        c->out = document;
        json_string(&c->json, "transcript", writer_view(&text));
        json_uint(&c->json, "pc", s.stop.pc);
        json_uint(&c->json, "steps", penta_session_steps(s.machine.session));
        state_json(&c->json, vm_of(&s));
        writer_free(&text);
    }
    penta_debugger_free(s.debugger);
    save_state(&s);
    machine_close(&s.machine);
}
