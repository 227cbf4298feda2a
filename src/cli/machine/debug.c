/* A line-oriented debugger; core/debugger.c does the stepping in both directions. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/bytes.h"
#include "base/number.h"
#include "base/suggest.h"
#include "cli/terminal/highlight.h"
#include "cli/machine/line.h"
#include "cli/machine/machine.h"
#include "cli/output.h"
#include "core/debugger.h"

struct shell {
    struct cli *cli;
    struct machine machine;
    struct debugger debugger;
    penta_stop stop; /* the last one; where the machine is */
    uint64_t breaks[64];
    size_t break_count;
    bool quit;
};

/* The instruction at pc in colours; false: there is none. */
static bool print_insn(struct shell *s, uint64_t pc, struct writer *out)
{
    const penta_module *module = s->machine.session.module;
    struct writer text = {0};
    bool found = module->driver->print_at && module->driver->print_at(module, pc, &text);
    /* A transcript for a document has none, whatever standard output is. */
    const struct palette *p = s->cli->value[OPT_JSON] ? &palette_plain : cli_palette(s->cli);
    if (found) highlight(out, p, module->driver, writer_view(&text));
    writer_free(&text);
    return found;
}

static void where(struct shell *s)
{
    struct writer *out = &s->cli->out;
    const struct session *session = &s->machine.session;
    if (s->stop.kind != PENTA_STOP_FUEL) stop_print(out, session, &s->stop);
    writer_print(out, "step %" PRIu64 "  pc %" PRIu64 "  ", session->steps, s->stop.pc);
    if (!print_insn(s, s->stop.pc, out)) writer_text(out, "(end)");
    writer_char(out, '\n');
}

static bool number(struct shell *s, const char *text, uint64_t *value)
{
    if (!*text || number_parse(text, value)) return true;
    writer_print(&s->cli->out, "'%s' is not a number\n", text);
    return false;
}

static void go(struct shell *s, uint64_t n)
{
    machine_arm(s->cli, &s->machine);
    debugger_forward(&s->debugger, n, &s->stop);
    machine_disarm(&s->machine);
    where(s);
}

static void go_to(struct shell *s, uint64_t step)
{
    machine_arm(s->cli, &s->machine);
    bool there = debugger_goto(&s->debugger, step, &s->stop);
    machine_disarm(&s->machine);
    penta_stop here;
    penta_vm_run(s->machine.session.vm, 0, &here);
    s->stop.pc = here.pc;
    if (there) s->stop.kind = PENTA_STOP_FUEL;
    where(s);
}

static void do_step(struct shell *s, const char *rest)
{
    uint64_t n = 1;
    if (number(s, rest, &n)) go(s, n);
}

static void do_back(struct shell *s, const char *rest)
{
    uint64_t n = 1, at = s->machine.session.steps;
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
    if (!*rest) {
        for (size_t i = 0; i < s->break_count; i++)
            writer_print(out, "break at %" PRIu64 "\n", s->breaks[i]);
        return;
    }
    uint64_t pc = 0;
    if (!number(s, rest, &pc)) return;
    if (s->break_count == sizeof s->breaks / sizeof *s->breaks) {
        writer_text(out, "too many breakpoints\n");
    } else if (!penta_vm_mark(s->machine.session.vm, pc, true)) {
        writer_print(out, "no instruction at %" PRIu64 "\n", pc);
    } else {
        s->breaks[s->break_count++] = pc;
        writer_print(out, "break at %" PRIu64 "\n", pc);
    }
}

static void do_delete(struct shell *s, const char *rest)
{
    uint64_t pc = 0;
    if (!number(s, rest, &pc)) return;
    for (size_t i = 0; i < s->break_count; i++) {
        if (*rest && s->breaks[i] != pc) continue;
        penta_vm_mark(s->machine.session.vm, s->breaks[i], false);
        s->breaks[i--] = s->breaks[--s->break_count];
    }
}

static void do_registers(struct shell *s, const char *rest)
{
    (void)rest;
    state_print(s->cli, &s->cli->out, s->machine.session.vm);
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
            while (n && !penta_vm_peek(s->machine.session.vm, address + at, row, n)) n--;
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
    const penta_module *module = s->machine.session.module;
    const struct driver *driver = module->driver;
    uint64_t pc = s->stop.pc;
    struct writer text = {0};
    for (int shown = 0; shown < 10 && print_insn(s, pc, &text); shown++) {
        writer_print(out, "%c %6" PRIu64 "  ", shown ? ' ' : '>', pc);
        writer_bytes(out, text.out.data, text.out.size);
        writer_char(out, '\n');
        text.out.size = 0;
        pc = driver->next_pc ? driver->next_pc(module, pc) : pc + 1;
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
    else if (!penta_vm_save(s->machine.session.vm, &bytes, &err))
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
    {"back", "[N]", "undo one instruction, or N", do_back},
    {"continue", "", "run to a breakpoint or the end", do_continue},
    {"goto", "STEP", "to the state after that many steps, forwards or backwards", do_goto},
    {"delete", "[PC]", "remove a breakpoint, or all", do_delete},
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
    struct writer untold = {0};
    penta_stop stop = s->stop;
    if (stop.kind == PENTA_STOP_FUEL) penta_vm_run(s->machine.session.vm, 0, &stop);
    machine_finish(s->cli, &s->machine, &stop, &untold, NULL);
    writer_free(&untold);
    machine_save_state(s->cli, &s->machine);
}

static const char PROMPT[] = "(penta) ";

/* Machines inside the machine, as the host call runs them. */
static void inner_lines(void *user, const penta_stop *stop, const struct answer *answer)
{
    struct shell *s = user;
    (void)stop;
    if (answer) writer_bytes(&s->cli->out, answer->output.out.data, answer->output.out.size);
}

void command_DEBUG(struct cli *c)
{
    struct shell s = {.cli = c};
    penta_error err = {0};
    if (!machine_open(c, &s.machine)) return;
    if (!debugger_init(&s.debugger, &s.machine.session, &err)) {
        cli_error(c, s.machine.in.name, &err);
        machine_close(&s.machine);
        return;
    }
    if (machine_shows_inner(c)) {
        s.debugger.called = inner_lines;
        s.debugger.user = &s;
    }
    if (c->value[OPT_JSON]) { /* the transcript becomes a member of the document */
        json_text(&c->json, "file", s.machine.in.name);
    }
    struct writer document = c->out; /* text goes into its own buffer while there is a document */
    if (c->value[OPT_JSON]) c->out = (struct writer){0};
    bool prompt = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && !c->value[OPT_JSON];
    session_run(&s.machine.session, 0, &s.stop);
    where(&s);
    const char *words[VERBS + 1] = {0};
    for (size_t i = 0; i < VERBS; i++) words[i] = verbs[i].name;
    struct line_reader *reader = line_open(PROMPT, words, prompt);
    while (reader && !s.quit) {
        if (!line_prompts(reader)) writer_text(&c->out, PROMPT);
        writer_flush(&c->out);
        char *line = line_read(reader);
        if (!line) break;
        execute(&s, line);
        if (s.debugger.err.code) {
            writer_print(&c->out, "%s\n", s.debugger.err.message);
            s.debugger.err = (penta_error){0};
        }
    }
    line_close(reader);
    if (c->value[OPT_JSON]) {
        struct writer text = c->out;
        c->out = document;
        json_string(&c->json, "transcript", writer_view(&text));
        json_uint(&c->json, "pc", s.stop.pc);
        json_uint(&c->json, "steps", s.machine.session.steps);
        state_json(&c->json, s.machine.session.vm);
        writer_free(&text);
    }
    debugger_fini(&s.debugger);
    save_state(&s);
    machine_close(&s.machine);
}
