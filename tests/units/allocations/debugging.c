/* Tries the session as the caller's own host, snapshots, and penta/debug.h, on a file of any
 * format. */
#include <stdio.h>
#include <string.h>
#include "allocations.h"
#include "base/error.h"
#include "penta/debug.h"

static penta_session *debugging_test_session(const struct subject *g, struct outcome *o)
{
    penta_error err = {0};
    hook_pause();
    penta_session *s = penta_session_new(g->module, g->engine, g->options, g->count, NULL, &err);
    hook_resume();
    return outcome_ok(o, s, &err) ? s : NULL;
}

static void debugging_test_called(void *user, const penta_call *c)
{
    outcome_bytes(user, &c->answered, sizeof c->answered);
    outcome_bytes(user, c->output.data, c->output.size);
}

/* Stops at every call and lets the default host answer it. */
static void try_answers(const void *user, struct outcome *o)
{
    penta_error err = {0};
    penta_stop stop = {0};
    penta_session *s = debugging_test_session(user, o);
    if (!s) return;
    penta_session_on_call(s, debugging_test_called, o);
    penta_session_stop_at_calls(s, true);
    for (unsigned i = 0; i < 8 && o->ok; i++) {
        penta_session_run(s, 200, &stop);
        if (stop.kind != PENTA_STOP_HOST) break;
        if (!penta_session_answer_default(s, &err) && err.code != BASE_STATE)
            outcome_ok(o, false, &err);
    }
    outcome_stop(o, &stop);
    outcome_failure(o, s);
    penta_session_free(s);
}

static void try_load(const void *user, struct outcome *o)
{
    penta_error err = {0};
    penta_stop stop = {0};
    penta_buffer saved = {0}, out = {0};
    penta_session *s = debugging_test_session(user, o);
    if (!s) return;
    hook_pause();
    penta_session_run(s, 3, &stop);
    bool ok = penta_vm_save(penta_session_vm(s), &saved, &err);
    hook_resume();
    ok = outcome_ok(o, ok, &err) &&
         outcome_ok(o, penta_session_load(s, view_of(&saved), &err), &err);
    if (ok && !penta_session_save_host(s, &out, &err) && err.code != BASE_UNSUPPORTED)
        outcome_ok(o, false, &err);
    outcome_buffer(o, &out);
    penta_buffer_free(&saved);
    penta_session_free(s);
}

static void debugging_test_variable(void *user, const penta_variable *v)
{
    outcome_bytes(user, v->value.name, strlen(v->value.name));
}
static void access_told(void *user, const penta_access *a)
{
    outcome_bytes(user, &a->write, sizeof a->write);
}
static void debugging_test_logged(void *user, unsigned number, penta_bytes text)
{
    (void)number;
    outcome_bytes(user, text.data, text.size);
}

static void try_eval(const void *user, struct outcome *o)
{
    static const char *const texts[] = {"pc + 2 * 3", "(pc == 0) || 1.5 > 2", "executed & 0xff"};
    penta_error err = {0};
    penta_buffer out = {0};
    penta_value value;
    penta_frame frames[4];
    penta_session *s = debugging_test_session(user, o);
    if (!s) return;
    const penta_vm *vm = penta_session_vm(s);
    penta_error no = {.code = BASE_MEMORY};
    for (size_t i = 0; i < 3; i++)
        if (outcome_ok(o, penta_vm_eval(vm, texts[i], &value, &err), &err) &&
            outcome_ok(o, penta_value_text(&value, 16, &out), &no))
            outcome_buffer(o, &out);
    penta_vm_variables(vm, 0, debugging_test_variable, o);
    penta_vm_accesses(vm, 0, access_told, o);
    size_t count = penta_vm_frames(vm, frames, 4);
    outcome_bytes(o, &count, sizeof count);
    penta_session_free(s);
}

static void add_points(struct outcome *o, penta_debugger *d, const char *place)
{
    const penta_point points[] = {
        {.kind = PENTA_POINT_BREAK, .what = place, .condition = "executed > 2"},
        {.kind = PENTA_POINT_BREAK, .what = place, .log = "at {pc}", .ignore = 1},
        {.kind = PENTA_POINT_WATCH, .what = "pc"},
        {.kind = PENTA_POINT_WATCH, .what = "/executed=3"}};
    penta_error err = {0};
    unsigned number = 0;
    for (size_t i = 0; i < sizeof points / sizeof *points && o->ok; i++)
        outcome_ok(o, penta_debugger_point_add(d, &points[i], &number, &err), &err);
    penta_point changed = {.number = 1, .condition = "executed > 1"};
    if (o->ok) outcome_ok(o, penta_debugger_point_change(d, &changed, &err), &err);
}

/* Moves over points. Each move may find the end of the program or no memory. */
static void debugging_test_move(struct outcome *o, penta_debugger *d, uint64_t pc)
{
    penta_error err = {0};
    penta_stop stop = {0};
    uint64_t step = 0, at = 0;
    const bool moved[] = {
        penta_debugger_forward(d, 10, &stop, &err), penta_debugger_next(d, &stop, &err),
        penta_debugger_reverse(d, &stop, &err), penta_debugger_back(d, 1, &stop, &err),
        penta_debugger_until(d, pc, &stop, &err)};
    (void)moved;
    if (!penta_debugger_last_change(d, "pc", &step, &at, &err) && err.code)
        outcome_ok(o, false, &err);
}

static void try_points(const void *user, struct outcome *o)
{
    penta_error err = {0};
    penta_stop stop = {0};
    penta_session *s = debugging_test_session(user, o);
    if (!s) return;
    char place[24];
    penta_vm_run(penta_session_vm(s), 0, &stop);
    snprintf(place, sizeof place, "%llu", (unsigned long long)stop.pc);
    penta_debugger *d = penta_debugger_new(s, &err);
    if (outcome_ok(o, d, &err)) {
        penta_debugger_on_log(d, debugging_test_logged, o);
        add_points(o, d, place);
        if (o->ok) outcome_ok(o, penta_debugger_watch(d, "pc", true, &err), &err);
    }
    penta_debugger_free(d);
    penta_session_free(s);
}

/* Moves a debugger. A move without memory may have any result, but nothing may crash or leak. */
static void try_motions(const void *user, struct outcome *o)
{
    penta_error err = {0};
    penta_stop stop = {0};
    struct outcome ignored = {.ok = true};
    penta_session *s = debugging_test_session(user, o);
    if (!s) return;
    penta_vm_run(penta_session_vm(s), 0, &stop);
    hook_pause();
    penta_debugger *d = penta_debugger_new(s, &err);
    hook_resume();
    if (outcome_ok(o, d, &err)) debugging_test_move(&ignored, d, stop.pc);
    penta_debugger_free(d);
    penta_session_free(s);
}

void session_scenarios(const struct subject *g)
{
    scenario("session, calls that stop", try_answers, g);
    scenario("session, snapshot", try_load, g);
    scenario("expressions", try_eval, g);
    scenario("points", try_points, g);
    scenario("motions", try_motions, g);
}
