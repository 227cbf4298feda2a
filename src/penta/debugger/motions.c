/* Implements the moves of the debugger: over calls and out of them, to a place, and backwards to
 * where a run would have stopped. */
#include <string.h>
#include "base/bytes.h"
#include "penta/debugger/debugger_struct.h"

/* Runs forward to the target, unless something else stops the run. */
static void run_to_target(struct penta_debugger *d, struct debugger_target target, penta_stop *stop)
{
    uint64_t before = d->session->steps;
    d->target = target;
    debugger_sync_mark(d, target.pc);
    debugger_forward(d, d->limit ? d->limit : UINT64_MAX, stop);
    if (stop->kind ==
        PENTA_STOP_FUEL) { /* Otherwise the next run would not stop at a break that is here. */
        stop->kind = debugger_stops_at(d, debugger_pc(d)) ? PENTA_STOP_BREAK : PENTA_STOP_INTERRUPT;
        d->unfinished = target;
        d->unfinished.on = stop->kind == PENTA_STOP_INTERRUPT;
        d->unfinished_at = d->session->steps;
    }
    d->target.on = false;
    debugger_sync_mark(d, target.pc);
    stop->steps = d->session->steps - before;
    if (stop->kind == PENTA_STOP_BREAK && stop->pc == target.pc && !d->stopped_by && !d->hit &&
        !debugger_has_mark(d, target.pc))
        stop->kind = PENTA_STOP_FUEL; /* The run arrived at the target. */
}

void penta_debugger_limit(penta_debugger *d, uint64_t steps) { d->limit = steps; }

bool penta_debugger_resume(penta_debugger *d, penta_stop *stop, penta_error *err)
{
    *err = (penta_error){0};
    if (!d->unfinished.on || d->unfinished_at != d->session->steps)
        return error_at(err, BASE_STATE, 0, "no move has stopped here at its limit");
    struct debugger_target target = d->unfinished;
    d->unfinished.on = false;
    run_to_target(d, target, stop);
    return debugger_whole_history(d, err);
}

bool penta_debugger_next(penta_debugger *d, penta_stop *stop, penta_error *err)
{
    const penta_module *module = d->session->module;
    struct debugger_target after = {.on = true};
    penta_frame frame;
    uint64_t before = d->session->steps, pc = debugger_pc(d);
    bool call =
        penta_flow_at(module, pc) == PENTA_FLOW_CALL && penta_next_pc(module, pc, &after.pc);
    penta_vm_frames(d->session->vm, &frame, 1);
    after.depth = frame.depth;
    debugger_forward(d, 1, stop);
    if (call && stop->kind == PENTA_STOP_FUEL && (pc = debugger_pc(d)) != after.pc) {
        /* A break at the first instruction of the called function stops the run, as any break does. */
        if (points_stop_at(d, pc) || debugger_has_mark(d, pc))
            *stop = (penta_stop){.kind = PENTA_STOP_BREAK, .pc = pc};
        else
            run_to_target(d, after, stop);
    }
    stop->steps = d->session->steps - before;
    return debugger_whole_history(d, err);
}

/* Steps by line. A line begins where a row of the line table begins. The row in which the step started counts again
 * only at its beginning, so that a loop on one line also ends the step. */
bool penta_debugger_step_line(penta_debugger *d, bool over, penta_stop *stop, penta_error *err)
{
    *err = (penta_error){0};
    const penta_module *module = d->session->module;
    uint64_t before = d->session->steps;
    penta_line from, now;
    penta_frame frame;
    if (!penta_line_at(module, debugger_pc(d), &from))
        return error_at(err, BASE_STATE, 0, "the next instruction has no source line");
    penta_vm_frames(d->session->vm, &frame, 1);
    uint64_t depth = frame.depth;
    for (;;) {
        bool ok =
            over ? penta_debugger_next(d, stop, err) : penta_debugger_forward(d, 1, stop, err);
        if (!ok || stop->kind != PENTA_STOP_FUEL) break;
        uint64_t pc = debugger_pc(d);
        if (!penta_line_at(module, pc, &now) || now.from != pc) continue;
        penta_vm_frames(d->session->vm, &frame, 1);
        bool same = now.line == from.line && bytes_equal(now.file, from.file);
        if (!same || now.from == from.from || frame.depth != depth) break;
    }
    stop->steps = d->session->steps - before;
    return !err->code;
}

bool penta_debugger_finish(penta_debugger *d, penta_stop *stop, penta_error *err)
{
    *err = (penta_error){0};
    const penta_module *module = d->session->module;
    struct debugger_target after = {.on = true};
    penta_frame frames[2];
    if (penta_vm_frames(d->session->vm, frames, 2) < 2 ||
        !penta_next_pc(module, frames[1].pc, &after.pc))
        return error_at(err, BASE_STATE, 0, "no call is open that could return");
    after.depth = frames[1].depth;
    run_to_target(d, after, stop);
    return debugger_whole_history(d, err);
}

bool penta_debugger_until(penta_debugger *d, uint64_t pc, penta_stop *stop, penta_error *err)
{
    *err = (penta_error){0};
    struct debugger_target target = {.on = true, .pc = pc, .depth = UINT64_MAX};
    if (!penta_vm_mark(d->session->vm, pc, true))
        return error_at(err, BASE_OPTION_VALUE, 0, "no instruction at %llu",
                        (unsigned long long)pc);
    run_to_target(d, target, stop);
    return debugger_whole_history(d, err);
}

struct moment { /* A place where a run forwards would have stopped. */
    bool found;
    uint64_t step;
    unsigned number;
    const char *hit;
    penta_stop stop;
};

static void motions_note(struct penta_debugger *d, struct moment *m, const penta_stop *stop)
{
    *m = (struct moment){true, d->session->steps, d->stopped_by, d->hit, *stop};
}

/* Checks whether the current state is at a mark or a point. */
static void look_at_state(struct penta_debugger *d, struct moment *m)
{
    penta_stop stop = {.kind = PENTA_STOP_BREAK, .pc = debugger_pc(d)};
    d->stopped_by = 0;
    d->hit = NULL;
    if (points_stop_at(d, stop.pc) || debugger_has_mark(d, stop.pc)) motions_note(d, m, &stop);
}

/* Finds the last stop from step `from` to `to` that is before `now`. A watch that the step to `to` triggers
 * counts here, because the next stretch starts after it. */
static bool motions_search(struct penta_debugger *d, uint64_t from, uint64_t to, uint64_t now,
                           struct moment *m)
{
    penta_stop stop;
    if (!debugger_go_to(d, from, &stop)) return false;
    look_at_state(d, m);
    while (d->session->steps < to) {
        debugger_forward(d, to - d->session->steps, &stop);
        if (stop.kind != PENTA_STOP_BREAK && stop.kind != PENTA_STOP_FUEL) break;
        if (stop.kind == PENTA_STOP_BREAK && d->session->steps < now) motions_note(d, m, &stop);
    }
    return true;
}

/* Searches from snapshot to snapshot, the last ones first. */
static void search_back(struct penta_debugger *d, uint64_t now, struct moment *m)
{
    uint64_t to = now;
    d->quiet = true;
    for (size_t i = d->snapshot_count; i-- && !m->found;) {
        uint64_t from = d->snapshots[i].steps;
        if (from >= to) continue;
        if (!motions_search(d, from, to, now, m)) break;
        to = from;
    }
    d->quiet = false;
}

bool penta_debugger_reverse(penta_debugger *d, penta_stop *stop, penta_error *err)
{
    uint64_t now = d->session->steps;
    struct moment m = {0};
    search_back(d, now, &m);
    debugger_go_to(d, m.found ? m.step : d->snapshots[0].steps, stop);
    d->stopped_by = m.number;
    d->hit = m.hit;
    if (m.found) stop->kind = PENTA_STOP_BREAK;
    stop->steps = now - d->session->steps;
    return debugger_whole_history(d, err);
}

/* Finds the last step between `from` and `to` that changes the watch. */
static bool search_change(struct penta_debugger *d, struct watch *w, uint64_t from, uint64_t to,
                          uint64_t *step, uint64_t *pc)
{
    penta_stop stop;
    bool found = false;
    if (!debugger_go_to(d, from, &stop)) return false;
    watch_start(d->session->vm, w);
    while (d->session->steps < to) {
        uint64_t at = d->session->steps, here = debugger_pc(d);
        if (!debugger_go_to(d, at + 1, &stop) && d->session->steps == at) break;
        if (!watch_changed(d->session->vm, w, &d->err)) continue;
        found = true;
        *step = at;
        *pc = here;
    }
    return found;
}

bool penta_debugger_last_change(penta_debugger *d, const char *what, uint64_t *step, uint64_t *pc,
                                penta_error *err)
{
    *err = (penta_error){0};
    penta_stop stop;
    uint64_t now = d->session->steps, to = now;
    bool found = false, beyond = d->beyond;
    struct watch *w = watch_new(d->session->vm, PENTA_POINT_WATCH, what, err);
    if (!w) return false;
    for (size_t i = d->snapshot_count; i-- && !found;) {
        uint64_t from = d->snapshots[i].steps;
        if (from >= to) continue;
        found = search_change(d, w, from, to, step, pc);
        to = from;
    }
    watch_free(w);
    debugger_go_to(d, now, &stop);
    if (beyond && !d->beyond) debugger_forward(d, 1, &stop);
    return debugger_whole_history(d, err) && found;
}
