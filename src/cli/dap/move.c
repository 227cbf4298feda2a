/* Answers requests that move the machine, and tells why it stopped. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "cli/dap/dap.h"

void dap_forget(struct dap *d)
{
    for (size_t i = 0; i < d->handle_count; i++) free(d->handles[i].path);
    d->handle_count = 0;
}

struct stopped {
    const char *reason, *text;
    unsigned point;
    char description[200];
};

static void stopped_body(struct json *j, const void *user)
{
    const struct stopped *s = user;
    json_text(j, "reason", s->reason);
    if (*s->description) json_text(j, "description", s->description);
    if (s->text) json_text(j, "text", s->text);
    json_uint(j, "threadId", 1);
    json_bool(j, "allThreadsStopped", true);
    if (!s->point) return;
    json_list(j, "hitBreakpointIds");
    json_uint(j, NULL, s->point);
    json_end(j);
}

static const struct dap_point *point_of(const struct dap *d, unsigned number)
{
    for (size_t i = 0; i < d->point_count; i++)
        if (d->points[i].number == number) return &d->points[i];
    return NULL;
}

void dap_stopped(struct dap *d, const char *reason)
{
    static const char *const groups[] = {[DAP_SOURCE] = "breakpoint",
                                         [DAP_FUNCTION] = "function breakpoint",
                                         [DAP_INSTRUCTION] = "instruction breakpoint",
                                         [DAP_DATA] = "data breakpoint"};
    struct stopped s = {.reason = reason, .point = penta_debugger_point_hit(d->debugger)};
    const penta_vm *vm = penta_session_vm(d->session);
    const char *detail = penta_vm_detail_name(vm, &d->stop);
    const struct dap_point *point = point_of(d, s.point);
    dap_forget(d);
    switch (d->stop.kind) {
    case PENTA_STOP_BREAK:
        if (point) s.reason = groups[point->group];
        break;
    case PENTA_STOP_INTERRUPT: s.reason = "pause"; break;
    case PENTA_STOP_TRAP:
    case PENTA_STOP_FAULT:
    case PENTA_STOP_GAS:
    case PENTA_STOP_HOST:
    case PENTA_STOP_DISAGREE:
        s.reason = "exception";
        s.text = detail;
        snprintf(s.description, sizeof s.description, "%s%s%s", penta_stop_name(d->stop.kind),
                 detail ? " " : "", detail ? detail : "");
        break;
    case PENTA_STOP_HALT: snprintf(s.description, sizeof s.description, "halt"); break;
    default: break;
    }
    dap_event(d, "stopped", stopped_body, &s);
}

static void exited_body(struct json *j, const void *user)
{
    json_uint(j, "exitCode", *(const uint64_t *)user);
}

/* Reports that the program is at its end. A client that wants to go back from there asks for a
 * stop. */
static void dap_move_halted(struct dap *d)
{
    const char *format = penta_module_format(d->module);
    uint64_t code = penta_format_exit_value(format) ? d->stop.args[0] & 0xff : 0;
    penta_buffer text = {0};
    penta_error err = {0};
    if (penta_session_finish(d->session, &d->stop, false, &text, &err))
        dap_output(d, "console", (penta_bytes){text.data, text.size});
    else
        dap_output(d, "important", bytes_of(err.message));
    penta_buffer_free(&text);
    dap_event(d, "exited", exited_body, &code);
    dap_event(d, "terminated", NULL, NULL);
}

typedef bool motion(struct dap *d, penta_error *err);

static bool end_is_queued(const struct dap *d)
{
    for (size_t i = 0; i < d->queue_count; i++)
        if (dap_ends_run(json_root(d->queue[i]))) return true;
    return false;
}

static void dap_move_by(struct dap *d, motion *go, bool continuing, const char *reason)
{
    penta_error err = {0};
    d->resumes = false;
    d->continuing = continuing;
    if (d->io->running) d->io->running(d->io->user, penta_session_vm(d->session));
    bool ok = go(d, &err);
    if (d->io->running) d->io->running(d->io->user, NULL);
    d->continuing = false;
    if (!ok && err.code) dap_output(d, "important", bytes_of(err.message));
    if (d->ended) return;
    const penta_error *failure = penta_session_failure(d->session);
    if (failure && d->stop.kind == PENTA_STOP_HOST)
        dap_output(d, "important", bytes_of(failure->message));
    if (d->stop.kind == PENTA_STOP_INTERRUPT && continuing && !end_is_queued(d))
        d->resumes = true;
    else if (d->stop.kind == PENTA_STOP_HALT && !d->stop_on_exit)
        dap_move_halted(d);
    else
        dap_stopped(d, reason);
}

static bool go_forward(struct dap *d, penta_error *err)
{
    return penta_debugger_forward(d->debugger, d->io->steps_max, &d->stop, err);
}
static bool go_one(struct dap *d, penta_error *err)
{
    return penta_debugger_forward(d->debugger, 1, &d->stop, err);
}
static bool go_next(struct dap *d, penta_error *err)
{
    return penta_debugger_next(d->debugger, &d->stop, err);
}
static bool go_line(struct dap *d, penta_error *err)
{
    return penta_debugger_step_line(d->debugger, false, &d->stop, err);
}
static bool go_next_line(struct dap *d, penta_error *err)
{
    return penta_debugger_step_line(d->debugger, true, &d->stop, err);
}
static bool go_out(struct dap *d, penta_error *err)
{
    return penta_debugger_finish(d->debugger, &d->stop, err);
}
static bool go_reverse(struct dap *d, penta_error *err)
{
    return penta_debugger_reverse(d->debugger, &d->stop, err);
}
static bool go_back(struct dap *d, penta_error *err)
{
    return penta_debugger_back(d->debugger, 1, &d->stop, err);
}
static bool go_start(struct dap *d, penta_error *err)
{
    return penta_debugger_goto(d->debugger, 0, &d->stop, err);
}

/* Goes back to the start of the line before, or to the start of this line if the machine is
 * inside it. */
static bool go_back_line(struct dap *d, penta_error *err)
{
    enum { MOST = 100000 };
    penta_line line;
    for (int i = 0; i < MOST; i++) {
        if (!go_back(d, err)) return false;
        bool known = penta_line_at(d->module, d->stop.pc, &line);
        if ((known && line.from == d->stop.pc) || !penta_session_steps(d->session)) break;
    }
    return true;
}

/* Tells whether a step is a line. It is if the program has lines, unless the client wants
 * instructions. */
static bool by_line(const struct dap *d, const struct json_object *args)
{
    const char *granularity = dap_text(args, "granularity");
    penta_line line;
    return (!granularity || strcmp(granularity, "instruction")) &&
           penta_line_at(d->module, d->stop.pc, &line);
}

void dap_continue(struct dap *d, struct dap_answer *a)
{
    (void)d;
    json_bool(a->body, "allThreadsContinued", true);
}
void dap_then_continue(struct dap *d, const struct json_object *args)
{
    (void)args;
    dap_move_by(d, go_forward, true, "pause");
}

void dap_then_next(struct dap *d, const struct json_object *args)
{
    dap_move_by(d, by_line(d, args) ? go_next_line : go_next, false, "step");
}

void dap_then_stepIn(struct dap *d, const struct json_object *args)
{
    dap_move_by(d, by_line(d, args) ? go_line : go_one, false, "step");
}

/* Leaves a function. If the function has no caller, the request is answered with an error before
 * anything moves. */
void dap_stepOut(struct dap *d, struct dap_answer *a)
{
    penta_frame frames[2];
    if (penta_vm_frames(penta_session_vm(d->session), frames, 2) < 2)
        error_at(&a->err, BASE_STATE, 0, "no call is open that could return");
}
void dap_then_stepOut(struct dap *d, const struct json_object *args)
{
    (void)args;
    dap_move_by(d, go_out, false, "step");
}

void dap_then_stepBack(struct dap *d, const struct json_object *args)
{
    dap_move_by(d, by_line(d, args) ? go_back_line : go_back, false, "step");
}

void dap_then_reverseContinue(struct dap *d, const struct json_object *args)
{
    (void)args;
    dap_move_by(d, go_reverse, false, "entry");
}

void dap_then_restart(struct dap *d, const struct json_object *args)
{
    dap_move_by(d, go_start, false, "entry");
    if (!d->stop_on_entry) dap_then_continue(d, args);
}

/* Reports the stop of the run that the pause ended. Without a run the stop was reported before. */
void dap_then_pause(struct dap *d, const struct json_object *args)
{
    (void)args;
    if (!d->resumes) return;
    d->resumes = false;
    dap_stopped(d, "pause");
}

void dap_threads(struct dap *d, struct dap_answer *a)
{
    (void)d;
    json_list(a->body, "threads");
    json_object(a->body, NULL);
    json_uint(a->body, "id", 1);
    json_text(a->body, "name", "main");
    json_end(a->body);
    json_end(a->body);
}

void dap_setExceptionBreakpoints(struct dap *d, struct dap_answer *a) { (void)d, (void)a; }

void dap_exceptionInfo(struct dap *d, struct dap_answer *a)
{
    const char *detail = penta_vm_detail_name(penta_session_vm(d->session), &d->stop);
    const char *format = penta_module_format(d->module);
    const penta_trap *trap = NULL;
    for (size_t i = 0; d->stop.kind == PENTA_STOP_TRAP && (trap = penta_trap_at(format, i)); i++)
        if (trap->number == d->stop.detail) break;
    json_text(a->body, "exceptionId", detail ? detail : penta_stop_name(d->stop.kind));
    json_text(a->body, "description",
              trap ? trap->meaning
              : d->stop.kind == PENTA_STOP_HOST
                  ? "a host call that nobody answers: evaluate 'answer VALUE...'"
                  : penta_stop_name(d->stop.kind));
    json_text(a->body, "breakMode", "always");
}
