#include "core/debugger.h"
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "core/delta.h"

enum { SNAPSHOTS_MAX = 64, INTERVAL_FIRST = 16 };

static bool out_of_memory(struct debugger *d)
{
    return error_at(&d->err, BASE_MEMORY, 0, "no memory for the history of the run");
}

/* Drops every other snapshot and doubles the interval, so that memory stays bounded and going back
 * runs at most one interval again, between 1/64 and 1/32 of the run. */
static void thin_out(struct debugger *d)
{
    size_t kept = 0;
    for (size_t i = 0; i < d->snapshot_count; i++) {
        if (i % 2)
            penta_buffer_free(&d->snapshots[i].bytes);
        else
            d->snapshots[kept++] = d->snapshots[i];
    }
    d->snapshot_count = kept;
    d->interval *= 2;
}

static bool take_snapshot(struct debugger *d)
{
    const struct session *s = d->session;
    if (d->snapshot_count == SNAPSHOTS_MAX) thin_out(d);
    if (!ARRAY_RESERVE(d->snapshots, d->snapshot_capacity, d->snapshot_count + 1))
        return out_of_memory(d);
    struct snapshot new = {.steps = s->steps, .host_calls = s->host_calls};
    if (!penta_vm_save(s->vm, &new.bytes, &d->err)) return false;
    d->snapshots[d->snapshot_count++] = new;
    return true;
}

static penta_bytes view(const penta_buffer *b) { return (penta_bytes){b->data, b->size}; }

/* ---- answers of the host ---- */

/* Makes the machine what it was after the recorded answer. */
static bool repeat_effect(struct debugger *d, const struct recorded_answer *a)
{
    penta_buffer before = {0};
    struct writer after = {0};
    bool done = penta_vm_save(d->session->vm, &before, &d->err);
    if (done) {
        delta_apply(view(&before), view(&a->effect), &after);
        done = writer_ok(&after, &d->err) &&
               penta_vm_load(d->session->vm, writer_view(&after), &d->err);
    }
    penta_buffer_free(&before);
    writer_free(&after);
    return done;
}

/* A call that was made before gets its recorded answer. For a new one, a host that changes the
 * machine has not done so yet: its state is saved, for record_answer to compare. */
static bool replay_answer(void *user, const penta_stop *stop, struct answer *out)
{
    struct debugger *d = user;
    const struct session *s = d->session;
    (void)stop;
    if (s->host_calls >= d->answer_count) {
        penta_buffer_free(&d->before);
        if (s->host && s->host->changes_machine && s->host->changes_machine(s->host_state))
            penta_vm_save(s->vm, &d->before, &d->err);
        return false;
    }
    const struct recorded_answer *a = &d->answers[s->host_calls];
    memcpy(out->results, a->results, sizeof out->results);
    out->count = a->count;
    out->gas = a->gas;
    out->end = a->end;
    out->applied = a->effect.size && repeat_effect(d, a);
    writer_bytes(&out->pokes, a->pokes.data, a->pokes.size);
    return true;
}

/* Keeps what an answer changed in the machine besides its results and pokes. Empty: nothing. */
static void record_effect(struct debugger *d, struct recorded_answer *a)
{
    penta_buffer after = {0};
    struct writer delta = {0};
    if (d->before.size && penta_vm_save(d->session->vm, &after, &d->err))
        delta_write(view(&d->before), view(&after), &delta);
    writer_ok(&delta, &d->err);
    a->effect = delta.out;
    penta_buffer_free(&after);
    penta_buffer_free(&d->before);
}

static void record_answer(void *user, const penta_stop *stop, const struct answer *answer)
{
    struct debugger *d = user;
    if (d->session->host_calls <= d->answer_count && answer) return; /* a replayed one */
    if (d->called) d->called(d->user, stop, answer);
    if (!answer) return;
    if (!ARRAY_RESERVE(d->answers, d->answer_capacity, d->answer_count + 1)) {
        out_of_memory(d);
        return;
    }
    struct recorded_answer *a = &d->answers[d->answer_count++];
    *a = (struct recorded_answer){.count = answer->count, .gas = answer->gas, .end = answer->end};
    memcpy(a->results, answer->results, sizeof a->results);
    struct writer pokes = {0};
    writer_bytes(&pokes, answer->pokes.out.data, answer->pokes.out.size);
    writer_ok(&pokes, &d->err);
    a->pokes = pokes.out;
    record_effect(d, a);
}

bool debugger_init(struct debugger *d, struct session *session, penta_error *err)
{
    *d = (struct debugger){.session = session, .interval = INTERVAL_FIRST};
    session->recorded = replay_answer;
    session->called = record_answer;
    session->user = d;
    if (take_snapshot(d)) return true;
    *err = d->err;
    return false;
}

void debugger_fini(struct debugger *d)
{
    for (size_t i = 0; i < d->snapshot_count; i++) penta_buffer_free(&d->snapshots[i].bytes);
    for (size_t i = 0; i < d->answer_count; i++) {
        penta_buffer_free(&d->answers[i].pokes);
        penta_buffer_free(&d->answers[i].effect);
    }
    penta_buffer_free(&d->before);
    free(d->snapshots);
    free(d->answers);
    d->session->recorded = NULL;
    d->session->called = NULL;
}

void debugger_forward(struct debugger *d, uint64_t n, penta_stop *stop)
{
    struct session *s = d->session;
    uint64_t done = 0;
    bool here = true; /* a breakpoint at the first instruction is passed over */
    for (;;) {
        uint64_t next = d->snapshots[d->snapshot_count - 1].steps + d->interval;
        uint64_t slice = next > s->steps ? next - s->steps : 1;
        if (slice > n - done) slice = n - done;
        session_run(s, slice, stop);
        done += stop->steps;
        if (here && stop->kind == PENTA_STOP_BREAK && !done) {
            here = false;
            continue;
        }
        here = false;
        bool first_time = s->steps > d->furthest;
        if (first_time) d->furthest = s->steps;
        if (first_time && s->steps >= next && stop->kind == PENTA_STOP_FUEL) take_snapshot(d);
        if (stop->kind != PENTA_STOP_FUEL || done >= n) break;
    }
    stop->steps = done;
    d->beyond = stop->kind != PENTA_STOP_FUEL && stop->kind != PENTA_STOP_BREAK;
}

bool debugger_goto(struct debugger *d, uint64_t steps, penta_stop *stop)
{
    struct session *s = d->session;
    *stop = (penta_stop){.kind = PENTA_STOP_FUEL};
    if (steps < s->steps || (steps == s->steps && d->beyond)) {
        size_t i = d->snapshot_count;
        while (i > 1 && d->snapshots[i - 1].steps > steps) i--;
        const struct snapshot *from = &d->snapshots[i - 1];
        if (!penta_vm_load(s->vm, (penta_bytes){from->bytes.data, from->bytes.size}, &d->err))
            return false;
        s->steps = from->steps;
        s->host_calls = from->host_calls;
        d->beyond = false;
    }
    uint64_t before = s->steps;
    while (s->steps < steps) {
        debugger_forward(d, steps - s->steps, stop);
        if (stop->kind != PENTA_STOP_FUEL && stop->kind != PENTA_STOP_BREAK) break;
    }
    if (s->steps == before) session_run(s, 0, stop); /* no step was taken: get the pc */
    stop->steps = s->steps - before;
    return s->steps == steps;
}
