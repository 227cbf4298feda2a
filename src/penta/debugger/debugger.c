/* Implements the debugger. It runs forward with watches and marks, goes back by loading a
 * snapshot and running again, and gives recorded answers of the host on the way. */
#include "penta/debugger/debugger_struct.h"
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "core/snapshot.h"
#include "penta/record/record_struct.h"

/* Saves the machine. penta_vm_save clears its error, so it gets an error of its own, and d->err
 * keeps the first failure. */
static bool debugger_save(struct penta_debugger *d, penta_buffer *out)
{
    penta_error err;
    bool ok = penta_vm_save(d->session->vm, out, &err);
    error_keep_first(&d->err, &err);
    return ok;
}

/* Loads a snapshot that this debugger took, which therefore is one of the same program. */
static bool debugger_load(struct penta_debugger *d, penta_bytes saved)
{
    return snapshot_restore(d->session->vm, saved, &d->err);
}

static penta_bytes debugger_view(const penta_buffer *b) { return (penta_bytes){b->data, b->size}; }

bool debugger_repeats(penta_debugger *d, struct answer *out)
{
    const struct penta_session *s = d->session;
    uint64_t i = s->calls - d->first_call;
    if (i >= d->answer_count) return false;
    const struct recorded_answer *a = &d->answers[i];
    memcpy(out->results, a->results, sizeof out->results);
    out->count = a->count;
    out->gas = a->gas;
    out->end = a->end;
    if (a->effect.size) {
        out->applied = effect_apply(s->vm, debugger_view(&a->effect), &d->err);
        out->failure = d->err;
    }
    writer_bytes(&out->pokes, a->pokes.data, a->pokes.size);
    return true;
}

void debugger_waits(penta_debugger *d)
{
    if (!d->before.size) debugger_save(d, &d->before);
}

/* Saves the machine before a host answers, because the host may change the machine directly. The
 * difference is recorded with the answer. */
void debugger_asked(penta_debugger *d)
{
    const struct penta_session *s = d->session;
    penta_buffer_free(&d->before);
    if (s->ask || s->stop_at_calls || s->opened.changes_machine) debugger_waits(d);
}

void debugger_answered(penta_debugger *d)
{
    const struct answer *answer = &d->session->answer;
    d->beyond = false;
    if (!ARRAY_GROW(d->answers, d->answer_capacity, d->answer_count, &d->err)) return;
    struct recorded_answer *a = &d->answers[d->answer_count++];
    *a = (struct recorded_answer){.count = answer->count, .gas = answer->gas, .end = answer->end};
    memcpy(a->results, answer->results, sizeof a->results);
    struct writer pokes = {0};
    writer_bytes(&pokes, answer->pokes.out.data, answer->pokes.out.size);
    writer_ok(&pokes, &d->err);
    a->pokes = pokes.out;
    if (d->before.size) effect_find(d->session->vm, debugger_view(&d->before), &a->effect, &d->err);
    penta_buffer_free(&d->before);
}

penta_debugger *penta_debugger_new(penta_session *session, penta_error *err)
{
    *err = (penta_error){0};
    if (session->counts) {
        error_at(err, BASE_STATE, 0, "the session counts instructions for a profile");
        return NULL;
    }
    struct penta_debugger *d = zeros_new(sizeof *d, "the debugger", err);
    if (!d) return NULL;
    *d = (struct penta_debugger){.session = session};
    /* The steps before this one were not counted. */
    if (session->steps == UINT64_MAX) session->steps = 0;
    d->first_call = session->calls;
    session->debugger = d;
    if (snapshots_take(d)) return d;
    *err = d->err;
    penta_debugger_free(d);
    return NULL;
}

static void answers_free(struct recorded_answer *answers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        penta_buffer_free(&answers[i].pokes);
        penta_buffer_free(&answers[i].effect);
    }
    free(answers);
}

void penta_debugger_free(penta_debugger *d)
{
    if (!d) return;
    snapshots_free(d);
    answers_free(d->answers, d->answer_count);
    watches_free(d);
    points_free(d);
    for (size_t i = 0; i < d->edit_count; i++) penta_buffer_free(&d->edits[i].bytes);
    free(d->edits);
    penta_buffer_free(&d->before);
    free(d->marks);
    d->session->debugger = NULL;
    free(d);
}

/* Forgets what was recorded after this step. */
static void forget_future(struct penta_debugger *d)
{
    const struct penta_session *s = d->session;
    size_t answers = (size_t)(s->calls - d->first_call);
    snapshots_forget(d);
    while (d->edit_count && d->edits[d->edit_count - 1].steps >= s->steps)
        penta_buffer_free(&d->edits[--d->edit_count].bytes);
    while (d->answer_count > answers) {
        struct recorded_answer *a = &d->answers[--d->answer_count];
        penta_buffer_free(&a->pokes);
        penta_buffer_free(&a->effect);
    }
    d->furthest = s->steps;
}

bool penta_debugger_set(penta_debugger *d, const char *what, const penta_value *value,
                        penta_error *err)
{
    *err = (penta_error){0};
    struct penta_session *s = d->session;
    if (s->waits) return vm_set(s->vm, what, value, err); /* The next answer records the change. */
    struct debugger_edit edit = {.steps = s->steps};
    if (!ARRAY_GROW(d->edits, d->edit_capacity, d->edit_count, err)) return false;
    if (!vm_set(s->vm, what, value, err)) return false;
    forget_future(d);
    if (!penta_vm_save(s->vm, &edit.bytes, err)) return false;
    d->edits[d->edit_count++] = edit;
    return true;
}

/* Returns the change that was made after exactly `steps` steps, or NULL. */
static const struct debugger_edit *edit_at(const struct penta_debugger *d, uint64_t steps)
{
    for (size_t i = 0; i < d->edit_count; i++)
        if (d->edits[i].steps == steps) return &d->edits[i];
    return NULL;
}

static uint64_t steps_to_edit(const struct penta_debugger *d)
{
    for (size_t i = 0; i < d->edit_count; i++)
        if (d->edits[i].steps > d->session->steps) return d->edits[i].steps - d->session->steps;
    return UINT64_MAX;
}

bool debugger_stops_at(struct penta_debugger *d, uint64_t pc)
{
    penta_frame frame;
    bool point = points_stop_at(d, pc);
    if (point || debugger_has_mark(d, pc)) return true;
    if (!d->target.on || d->target.pc != pc) return false;
    penta_vm_frames(d->session->vm, &frame, 1);
    return frame.depth <= d->target.depth;
}

uint64_t debugger_pc(const struct penta_debugger *d)
{
    penta_stop stop;
    penta_vm_run(d->session->vm, 0, &stop);
    return stop.pc;
}

/* Runs at most n instructions. When `watching` is set, it checks the watches at each step, or
 * where marks and guards of the machine say that a watched value may be accessed. */
static void debugger_forward_by(struct penta_debugger *d, uint64_t n, bool watching,
                                penta_stop *stop)
{
    struct penta_session *s = d->session;
    uint64_t done = 0;
    bool here = true; /* A breakpoint at the first instruction does not stop the run. */
    bool heeding = watching;
    struct watching g = watching ? watching_start(d) : (struct watching){0};
    bool looking = g.every_step || g.marks; /* The run looks at what the next instruction does. */
    for (;;) {
        uint64_t next = s->steps < d->furthest ? d->furthest : d->next_snapshot;
        uint64_t slice = next > s->steps && !looking ? next - s->steps : 1;
        uint64_t edit = d->edit_count ? steps_to_edit(d) : UINT64_MAX;
        if (slice > n - done) slice = n - done;
        if (slice > edit) slice = edit;
        if (looking && g.marks) watching_note(d, debugger_pc(d));
        watching_arm(d, &g, true);
        penta_session_run(s, slice, stop);
        watching_arm(d, &g, false);
        if (g.hit && stop->kind == PENTA_STOP_BREAK) stop->kind = PENTA_STOP_FUEL;
        done += stop->steps;
        bool paused = stop->kind == PENTA_STOP_FUEL || stop->kind == PENTA_STOP_BREAK;
        if (d->edit_count && stop->steps && paused && edit_at(d, s->steps))
            debugger_load(d, debugger_view(&edit_at(d, s->steps)->bytes));
        bool passed = stop->kind == PENTA_STOP_BREAK &&
                      ((here && !done) || (heeding && !debugger_stops_at(d, stop->pc)));
        here = false;
        bool stepped = looking && stop->steps;
        looking = g.every_step || (g.marks && (passed || (looking && !stop->steps)));
        if (passed) continue;
        bool first_time = s->steps > d->furthest;
        if (first_time) d->furthest = s->steps;
        if (first_time && stop->kind == PENTA_STOP_FUEL) snapshots_due(d);
        if ((stepped || g.hit) && stop->kind == PENTA_STOP_FUEL) {
            bool point = points_met(d);
            if (watches_met(d) || point) stop->kind = PENTA_STOP_BREAK;
        }
        bool goes_on = stop->kind == PENTA_STOP_INTERRUPT && d->ask && d->ask(d->ask_user);
        if ((stop->kind != PENTA_STOP_FUEL && !goes_on) || done >= n) break;
    }
    stop->steps = done;
    d->beyond = stop->kind != PENTA_STOP_FUEL && stop->kind != PENTA_STOP_BREAK;
}

void penta_debugger_on_interrupt(penta_debugger *d, penta_interrupt_ask *ask, void *user)
{
    d->ask = ask;
    d->ask_user = user;
}

/* Reports the error that has made the history incomplete since the last call. */
bool debugger_whole_history(struct penta_debugger *d, penta_error *err)
{
    *err = d->err;
    d->err = (penta_error){0};
    return !err->code;
}

void debugger_forward(struct penta_debugger *d, uint64_t n, penta_stop *stop)
{
    watches_start(d);
    points_start(d);
    debugger_forward_by(d, n, true, stop);
    if (!d->quiet) points_ended(d);
}

bool penta_debugger_forward(penta_debugger *d, uint64_t n, penta_stop *stop, penta_error *err)
{
    debugger_forward(d, n, stop);
    return debugger_whole_history(d, err);
}

bool debugger_go_to(struct penta_debugger *d, uint64_t step, penta_stop *stop)
{
    struct penta_session *s = d->session;
    bool before_start = step < d->snapshots[0].steps;
    *stop = (penta_stop){.kind = PENTA_STOP_FUEL};
    if (before_start) step = d->snapshots[0].steps;
    if (step < s->steps || (step == s->steps && d->beyond)) {
        const struct debugger_snapshot *from = snapshots_before(d, step);
        if (!debugger_load(d, debugger_view(&from->bytes))) return false;
        s->steps = from->steps;
        s->calls = from->calls;
        s->waits = d->beyond = false;
        const struct debugger_edit *edit = edit_at(d, s->steps);
        if (edit && !debugger_load(d, debugger_view(&edit->bytes))) return false;
    }
    uint64_t before = s->steps;
    while (s->steps < step) {
        debugger_forward_by(d, step - s->steps, false, stop);
        if (stop->kind != PENTA_STOP_FUEL && stop->kind != PENTA_STOP_BREAK) break;
    }
    if (s->steps == step && stop->kind != PENTA_STOP_HOST) {
        penta_vm_run(s->vm, 0, stop); /* Running 0 steps only asks for the pc of the next
                                       * instruction. */
        stop->kind = PENTA_STOP_FUEL;
    }
    stop->steps = s->steps - before;
    return s->steps == step && !before_start;
}

bool penta_debugger_goto(penta_debugger *d, uint64_t step, penta_stop *stop, penta_error *err)
{
    d->hit = NULL;
    d->stopped_by = 0;
    bool there = debugger_go_to(d, step, stop);
    return debugger_whole_history(d, err) && there;
}

bool penta_debugger_back(penta_debugger *d, uint64_t n, penta_stop *stop, penta_error *err)
{
    uint64_t at = d->session->steps, start = d->snapshots[0].steps;
    return penta_debugger_goto(d, n < at - start ? at - n : start, stop, err);
}

bool debugger_has_mark(const struct penta_debugger *d, uint64_t pc)
{
    size_t i;
    ARRAY_SEARCH(i, 0, d->mark_count, d->marks[i] >= pc);
    return i < d->mark_count && d->marks[i] == pc;
}

bool debugger_sync_mark(struct penta_debugger *d, uint64_t pc)
{
    bool wanted = debugger_has_mark(d, pc) || points_want(d, pc) || watches_want(d, pc) ||
                  (d->target.on && d->target.pc == pc);
    return penta_vm_mark(d->session->vm, pc, wanted);
}

bool penta_debugger_mark(penta_debugger *d, uint64_t pc, bool on)
{
    size_t i = 0;
    while (i < d->mark_count && d->marks[i] < pc) i++;
    bool there = i < d->mark_count && d->marks[i] == pc;
    if (on && !there && !ARRAY_RESERVE(d->marks, d->mark_capacity, d->mark_count + 1)) return false;
    if (on == there) return true;
    if (on && !penta_vm_mark(d->session->vm, pc, true)) return false;
    uint64_t *at = d->marks + i;
    size_t after = d->mark_count - i;
    if (on) {
        memmove(at + 1, at, after * sizeof *at);
        *at = pc;
        d->mark_count++;
    } else {
        memmove(at, at + 1, (after - 1) * sizeof *at);
        d->mark_count--;
        debugger_sync_mark(d, pc);
    }
    return true;
}

size_t penta_debugger_marks(const penta_debugger *d, uint64_t *pcs, size_t max)
{
    for (size_t i = 0; i < d->mark_count && i < max; i++) pcs[i] = d->marks[i];
    return d->mark_count;
}
