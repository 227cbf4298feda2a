/* Sets breakpoints and watches of gdb, runs the machine in both directions, and tells gdb why it
 * stops. */
#include <inttypes.h>
#include <stdio.h>
#include "base/bytes.h"
#include "cli/gdbserver/stub.h"

static bool is_disabled(const struct stub *s, unsigned number)
{
    const penta_point *p;
    for (size_t i = 0; (p = penta_debugger_point_at(s->shell.debugger, i)); i++)
        if (p->number == number) return p->disabled;
    return true;
}

static void forget_disabled(struct stub *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->watch_count; i++) {
        if (is_disabled(s, s->watches[i].number))
            penta_debugger_point_remove(s->shell.debugger, s->watches[i].number);
        else
            s->watches[kept++] = s->watches[i];
    }
    s->watch_count = kept;
}

static bool add_watch(struct stub *s, char type, uint64_t address, uint64_t size)
{
    /* gdb's watch is for changes: gdb looks at the value itself, and continues when it is the
     * same. */
    static const penta_point_kind kinds[] = {
        ['2'] = PENTA_POINT_WATCH, ['3'] = PENTA_POINT_READ, ['4'] = PENTA_POINT_ACCESS};
    char what[48];
    penta_error err;
    struct stub_watch w = {.address = address, .size = size, .type = type};
    if (s->watch_count == STUB_WATCHES) forget_disabled(s);
    if (s->watch_count == STUB_WATCHES) return false;
    snprintf(what, sizeof what, "0x%" PRIx64 ":%" PRIu64, address, size);
    penta_point point = {.kind = kinds[(unsigned char)type], .what = what};
    if (!penta_debugger_point_add(s->shell.debugger, &point, &w.number, &err)) return false;
    s->watches[s->watch_count++] = w;
    return true;
}

/* Sets or removes a watch. gdb removes watches when the machine stops and sets them again before
 * it runs. They are only disabled, so that of several that stop at once the first is always the
 * same. */
static bool set_watch(struct stub *s, bool on, char type, uint64_t address, uint64_t size)
{
    penta_error err;
    for (size_t i = 0; i < s->watch_count; i++) {
        const struct stub_watch *w = &s->watches[i];
        if (w->type != type || w->address != address || w->size != size) continue;
        penta_point point = {.number = w->number, .disabled = !on};
        return penta_debugger_point_change(s->shell.debugger, &point, &err);
    }
    return !on || add_watch(s, type, address, size);
}

bool stub_point(struct stub *s, bool on, char type, uint64_t address, uint64_t size)
{
    s->stopping = NULL;
    if (type == '0' || type == '1') return penta_debugger_mark(s->shell.debugger, address, on);
    return set_watch(s, on, type, address, size);
}

static const struct stub_watch *stopping_watch(const struct stub *s)
{
    if (s->stopping) return s->stopping;
    unsigned number = penta_debugger_point_hit(s->shell.debugger);
    for (size_t i = 0; number && i < s->watch_count; i++)
        if (s->watches[i].number == number) return &s->watches[i];
    return NULL;
}

/* Returns the point of a monitor command that stopped the run, or NULL. */
static const penta_point *own_point(const struct stub *s)
{
    unsigned number = penta_debugger_point_hit(s->shell.debugger);
    const penta_point *p = NULL;
    if (stopping_watch(s)) return NULL;
    for (size_t i = 0; number && (p = penta_debugger_point_at(s->shell.debugger, i)); i++)
        if (p->number == number) return p;
    return NULL;
}

/* Returns the signal for a stop, by gdb's own numbers (GDB_SIGNAL_*). */
static int signal_of(const struct stub *s)
{
    const penta_stop *stop = &s->shell.stop;
    enum { INTERRUPT = 2, ILLEGAL = 4, TRAP = 5, SEGV = 11, SYSTEM_CALL = 12, CPU_TIME = 24 };
    switch (stop->kind) {
    case PENTA_STOP_INTERRUPT: return INTERRUPT;
    case PENTA_STOP_TRAP: return ILLEGAL;
    case PENTA_STOP_FAULT: return SEGV;
    case PENTA_STOP_HOST: return SYSTEM_CALL;
    case PENTA_STOP_GAS: return CPU_TIME;
    case PENTA_STOP_BREAK: /* gdb does not show SIGTRAP after a step that it made itself. */
        return own_point(s) && s->one_step ? INTERRUPT : TRAP;
    default: return TRAP;
    }
}

static bool at_mark(const struct stub *s, uint64_t pc)
{
    uint64_t pcs[256];
    size_t count = penta_debugger_marks(s->shell.debugger, pcs, 256);
    for (size_t i = 0; i < count && i < 256; i++)
        if (pcs[i] == pc) return true;
    return false;
}

static void resume_send(const struct stub_line *line, struct writer *body)
{
    if (!body->failed) line->send(line->user, writer_view(body));
    writer_free(body);
}

/* Sends text for gdb's console. The text may come only while gdb waits for a stop, or for the
 * end of a command. */
static void resume_say(penta_bytes text, const struct stub_line *line)
{
    enum { PIECE = 1000 };
    while (text.size) {
        struct writer body = {0};
        writer_char(&body, 'O');
        writer_hex(&body, bytes_slice(text, 0, PIECE));
        resume_send(line, &body);
        text = bytes_slice(text, PIECE, SIZE_MAX);
    }
}

static void say_output(struct stub *s, const struct stub_line *line)
{
    resume_say(writer_view(&s->shell.cli->out), line);
    s->shell.cli->out.out.size = 0;
}

/* Tells in words what happened, if gdb has no number for it. */
static void say_stop_reason(struct stub *s, const struct stub_line *line)
{
    struct writer text = {0};
    const penta_error *failure = penta_session_failure(s->shell.machine.session);
    const penta_point *point = own_point(s);
    if (point && point->kind != PENTA_POINT_BREAK)
        writer_print(&text, "%s: %s\n", point_word(point->kind), point->what);
    else
        stop_print(&text, &s->shell.machine, &s->shell.stop);
    if (failure) writer_print(&text, "%s\n", failure->message);
    resume_say(writer_view(&text), line);
    writer_free(&text);
}

void stub_stopped(struct stub *s, bool start, const struct stub_line *line)
{
    const penta_stop *stop = &s->shell.stop;
    const struct stub_watch *watch = stopping_watch(s);
    uint8_t pc[8];
    struct writer body = {0};
    bytes_put64(pc, stop->pc);
    writer_print(&body, "T%02xthread:1;20:", (unsigned)signal_of(s));
    writer_hex(&body, (penta_bytes){pc, sizeof pc});
    writer_char(&body, ';');
    if (watch)
        writer_print(&body, "%s:%" PRIx64 ";",
                     watch->type == '2'   ? "watch"
                     : watch->type == '3' ? "rwatch"
                                          : "awatch",
                     watch->address);
    else if (start)
        writer_text(&body, "replaylog:begin;");
    else if (stop->kind == PENTA_STOP_HALT)
        writer_text(&body, "replaylog:end;");
    else if (stop->kind == PENTA_STOP_BREAK && at_mark(s, stop->pc))
        writer_text(&body, "swbreak:;");
    resume_send(line, &body);
}

static bool resume_backwards(char how) { return how == 'b' || how == 'r'; }

/* Runs forward. A RISC-V stops before the instruction that triggers a watch. gdb then makes a
 * step itself, in the direction of the run, and looks at the value. So a run forwards goes back
 * over the instruction. */
static void resume_forward(struct stub *s, uint64_t steps)
{
    struct shell *shell = &s->shell;
    penta_error err;
    penta_debugger_forward(shell->debugger, steps, &shell->stop, &err);
    const struct stub_watch *watch = stopping_watch(s);
    if (!watch) return;
    penta_debugger_back(shell->debugger, 1, &shell->stop, &err);
    shell->stop.kind = PENTA_STOP_BREAK;
    s->stopping = watch;
}

/* Tells whether the last executed instruction triggers a watch, so that a run backwards stops at
 * once. */
static bool last_step_hits(struct stub *s, uint64_t now)
{
    struct shell *shell = &s->shell;
    penta_error err;
    if (!s->watch_count || !now) return false;
    if (!penta_debugger_goto(shell->debugger, now - 1, &shell->stop, &err)) return false;
    penta_debugger_forward(shell->debugger, 1, &shell->stop, &err);
    return stopping_watch(s);
}

/* Moves the machine: s one step, c until something stops it, b one step back, r back. Returns
 * true when it is at its start. */
static bool resume_move(struct stub *s, char how)
{
    struct shell *shell = &s->shell;
    penta_error err;
    uint64_t before = penta_session_steps(shell->machine.session);
    s->stopping = NULL;
    if (!resume_backwards(how))
        resume_forward(s, how == 's' ? 1 : UINT64_MAX);
    else if (last_step_hits(s, before))
        return false;
    else if (how == 'b')
        penta_debugger_back(shell->debugger, 1, &shell->stop, &err);
    else
        penta_debugger_reverse(shell->debugger, &shell->stop, &err);
    /* This run of 0 steps finds the pc of the next instruction. */
    if (shell->stop.kind == PENTA_STOP_FUEL) {
        penta_stop next;
        penta_vm_run(shell_vm(shell), 0, &next);
        shell->stop.pc = next.pc;
    }
    if (how == 'r') return shell->stop.kind == PENTA_STOP_FUEL;
    return how == 'b' && penta_session_steps(shell->machine.session) == before;
}

/* Sends the W packet, which says that the program has exited. */
static void send_exit(const struct stub *s, const struct stub_line *line)
{
    const penta_session *session = s->shell.machine.session;
    struct writer body = {0};
    bool value = penta_format_exit_value(penta_module_format(s->shell.machine.in.module)) ||
                 penta_session_is_console(session);
    writer_print(&body, "W%02x", value ? (unsigned)(s->shell.stop.args[0] & 255) : 0);
    resume_send(line, &body);
}

void stub_resume(struct stub *s, char how, const struct stub_line *line)
{
    const penta_stop *stop = &s->shell.stop;
    if (stop->kind == PENTA_STOP_HALT && s->at_end && !resume_backwards(how)) {
        send_exit(s, line);
        s->ended = true;
        return;
    }
    s->one_step = how == 's' || how == 'b';
    if (line->watch) line->watch(line->user, true);
    bool start = resume_move(s, how);
    if (line->watch) line->watch(line->user, false);
    registers_moved(&s->shell);
    say_output(s, line);
    bool explained = stop->kind == PENTA_STOP_FUEL || stop->kind == PENTA_STOP_INTERRUPT ||
                     (stop->kind == PENTA_STOP_BREAK && !own_point(s));
    if (!explained && !resume_backwards(how)) say_stop_reason(s, line);
    s->at_end = stop->kind == PENTA_STOP_HALT;
    stub_stopped(s, start, line);
}
