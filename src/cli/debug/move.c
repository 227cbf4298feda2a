/* Implements the commands that move the machine. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "cli/debug/shell.h"

static void debug_move_arrived(struct shell *s, const penta_error *err)
{
    machine_disarm(&s->machine);
    registers_moved(s);
    shell_where(s);
    shell_error(s, err);
    const penta_error *failure = penta_session_failure(s->machine.session);
    if (failure && s->stop.kind == PENTA_STOP_HOST) shell_error(s, failure);
}

static void debug_move_go(struct shell *s, uint64_t n)
{
    penta_error err = {0};
    machine_arm(s->cli, &s->machine);
    penta_debugger_forward(s->debugger, n, &s->stop, &err);
    debug_move_arrived(s, &err);
}

static void go_to_step(struct shell *s, uint64_t step)
{
    penta_error err = {0};
    machine_arm(s->cli, &s->machine);
    if (penta_debugger_goto(s->debugger, step, &s->stop, &err)) s->stop.kind = PENTA_STOP_FUEL;
    debug_move_arrived(s, &err);
}

void do_step(struct shell *s, const char *rest)
{
    uint64_t n = 1;
    if (shell_count(s, rest, &n)) debug_move_go(s, n);
}

void do_back(struct shell *s, const char *rest)
{
    uint64_t n = 1, at = penta_session_steps(s->machine.session);
    if (shell_count(s, rest, &n)) go_to_step(s, n < at ? at - n : 0);
}

void do_goto(struct shell *s, const char *rest)
{
    uint64_t n = 0;
    if (shell_count(s, rest, &n)) go_to_step(s, n);
}

void do_continue(struct shell *s, const char *rest)
{
    uint64_t n = 1;
    penta_error err = {0};
    if (!shell_count(s, rest, &n)) return;
    machine_arm(s->cli, &s->machine);
    do penta_debugger_forward(s->debugger, UINT64_MAX, &s->stop, &err);
    while (n-- > 1 && s->stop.kind == PENTA_STOP_BREAK);
    debug_move_arrived(s, &err);
}

void do_next(struct shell *s, const char *rest)
{
    uint64_t n = 1;
    penta_error err = {0};
    if (!shell_count(s, rest, &n)) return;
    machine_arm(s->cli, &s->machine);
    while (n-- && penta_debugger_next(s->debugger, &s->stop, &err) &&
           s->stop.kind == PENTA_STOP_FUEL)
        continue;
    debug_move_arrived(s, &err);
}

/* Shows where the machine is after a motion, or the error of a motion that did not take place. */
static void debug_move_ended(struct shell *s, bool ok, const penta_error *err)
{
    machine_disarm(&s->machine);
    if (ok)
        debug_move_arrived(s, err);
    else
        shell_error(s, err);
}

static void step_lines(struct shell *s, const char *rest, bool over)
{
    uint64_t n = 1;
    penta_error err = {0};
    bool ok = true;
    if (!shell_count(s, rest, &n)) return;
    machine_arm(s->cli, &s->machine);
    while (n-- && (ok = penta_debugger_step_line(s->debugger, over, &s->stop, &err)) &&
           s->stop.kind == PENTA_STOP_FUEL)
        continue;
    debug_move_ended(s, ok, &err);
}

void do_step_line(struct shell *s, const char *rest) { step_lines(s, rest, false); }
void do_next_line(struct shell *s, const char *rest) { step_lines(s, rest, true); }

void do_finish(struct shell *s, const char *rest)
{
    penta_error err = {0};
    (void)rest;
    machine_arm(s->cli, &s->machine);
    bool ok = penta_debugger_finish(s->debugger, &s->stop, &err);
    debug_move_ended(s, ok, &err);
}

void do_until(struct shell *s, const char *rest)
{
    uint64_t pc;
    penta_error err = {0};
    if (!penta_find_code(s->machine.in.module, rest, &pc, &err)) {
        shell_error(s, &err);
        return;
    }
    machine_arm(s->cli, &s->machine);
    bool ok = penta_debugger_until(s->debugger, pc, &s->stop, &err);
    debug_move_ended(s, ok, &err);
}

void do_reverse(struct shell *s, const char *rest)
{
    penta_error err = {0};
    (void)rest;
    machine_arm(s->cli, &s->machine);
    penta_debugger_reverse(s->debugger, &s->stop, &err);
    debug_move_arrived(s, &err);
}

void do_last_write(struct shell *s, const char *rest)
{
    struct writer *out = &s->cli->out;
    uint64_t step, pc;
    penta_error err = {0};
    machine_arm(s->cli, &s->machine);
    bool found = penta_debugger_last_change(s->debugger, rest, &step, &pc, &err);
    machine_disarm(&s->machine);
    if (!found) {
        shell_error(s, &err);
        if (!err.code) writer_text(out, "it did not change since the start\n");
        return;
    }
    writer_print(out, "written at step %" PRIu64 "  pc %" PRIu64 "  ", step, pc);
    shell_insn(s, pc, out);
    writer_char(out, '\n');
}

void do_answer(struct shell *s, const char *rest)
{
    uint64_t results[16];
    size_t count = 0;
    penta_error err = {0};
    char *text = strdup(rest), *save = NULL;
    bool ok = text != NULL;
    if (!strcmp(rest, "default")) {
        ok = penta_session_answer_default(s->machine.session, &err);
    } else {
        for (char *word = text ? strtok_r(text, " ,\t", &save) : NULL; ok && word;
             word = strtok_r(NULL, " ,\t", &save)) {
            if (count == sizeof results / sizeof *results)
                ok = error_at(&err, BASE_OPTION_VALUE, 0, "no call has so many results");
            else
                ok = shell_number(s, word, &results[count++]);
        }
        ok = ok && penta_session_answer(s->machine.session, results, count, &err);
    }
    free(text);
    if (!ok) {
        shell_error(s, &err);
        return;
    }
    penta_vm_run(shell_vm(s), 0, &s->stop);
    s->stop.kind = PENTA_STOP_FUEL;
    registers_moved(s);
    shell_where(s);
}
