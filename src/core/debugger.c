#include "core/debugger.h"
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"

enum { SNAPSHOTS_MAX = 64, INTERVAL_FIRST = 256 };

static bool out_of_memory(struct debugger *d)
{
    return error_at(&d->err, BASE_MEMORY, 0, "no memory to remember the past");
}

/* Every other snapshot goes, and the interval doubles: memory stays bounded, and going back runs at
 * most one interval again, between 1/64 and 1/32 of the run. A snapshot after an answer that changed
 * the machine directly may go too; then going back before it replays that answer without the
 * change. */
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
    if (d->snapshot_count == d->snapshot_capacity) {
        size_t capacity = SNAPSHOTS_MAX;
        struct snapshot *more = realloc(d->snapshots, capacity * sizeof *more);
        if (!more) return out_of_memory(d);
        d->snapshots = more;
        d->snapshot_capacity = capacity;
    }
    struct snapshot new = {.steps = s->steps, .host_calls = s->host_calls};
    if (!penta_vm_save(s->vm, &new.bytes, &d->err)) return false;
    d->snapshots[d->snapshot_count++] = new;
    return true;
}

static bool replay_answer(void *user, const penta_stop *stop, struct answer *out)
{
    struct debugger *d = user;
    (void)stop;
    if (d->session->host_calls >= d->answer_count) return false;
    const struct recorded_answer *a = &d->answers[d->session->host_calls];
    memcpy(out->results, a->results, sizeof out->results);
    out->count = a->count;
    out->gas = a->gas;
    out->end = a->end;
    writer_bytes(&out->pokes, a->pokes.data, a->pokes.size);
    return true;
}

static void record_answer(void *user, const penta_stop *stop, const struct answer *answer)
{
    struct debugger *d = user;
    if (d->session->host_calls <= d->answer_count && answer) return; /* a replayed one */
    if (d->called) d->called(d->user, stop, answer);
    if (!answer) return;
    if (d->answer_count == d->answer_capacity) {
        size_t capacity = d->answer_capacity ? d->answer_capacity * 2 : 64;
        struct recorded_answer *more = realloc(d->answers, capacity * sizeof *more);
        if (!more) {
            out_of_memory(d);
            return;
        }
        d->answers = more;
        d->answer_capacity = capacity;
    }
    struct recorded_answer *a = &d->answers[d->answer_count];
    *a = (struct recorded_answer){.count = answer->count, .gas = answer->gas, .end = answer->end};
    memcpy(a->results, answer->results, sizeof a->results);
    penta_bytes pokes = writer_view(&answer->pokes);
    if (pokes.size) {
        a->pokes.data = malloc(pokes.size);
        if (!a->pokes.data) {
            out_of_memory(d);
            return;
        }
        memcpy(a->pokes.data, pokes.data, pokes.size);
        a->pokes.size = pokes.size;
    }
    d->answer_count++;
    if (answer->direct) take_snapshot(d); /* there is nothing to replay: this is how it was */
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
    for (size_t i = 0; i < d->answer_count; i++) penta_buffer_free(&d->answers[i].pokes);
    free(d->snapshots);
    free(d->answers);
    d->session->recorded = NULL;
    d->session->called = NULL;
}

void debugger_forward(struct debugger *d, uint64_t n, penta_stop *stop)
{
    struct session *s = d->session;
    uint64_t done = 0;
    bool here = true; /* a mark on the very spot is where we come from, not where we go */
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
        bool new_ground = s->steps > d->furthest;
        if (s->steps > d->furthest) d->furthest = s->steps;
        if (new_ground && s->steps >= next) take_snapshot(d);
        if (stop->kind != PENTA_STOP_FUEL || done >= n) break;
    }
    stop->steps = done;
}

bool debugger_goto(struct debugger *d, uint64_t steps, penta_stop *stop)
{
    struct session *s = d->session;
    *stop = (penta_stop){.kind = PENTA_STOP_FUEL};
    if (steps < s->steps) {
        size_t i = d->snapshot_count;
        while (i > 1 && d->snapshots[i - 1].steps > steps) i--;
        const struct snapshot *from = &d->snapshots[i - 1];
        if (!penta_vm_load(s->vm, (penta_bytes){from->bytes.data, from->bytes.size}, &d->err))
            return false;
        s->steps = from->steps;
        s->host_calls = from->host_calls;
    }
    uint64_t before = s->steps;
    while (s->steps < steps) {
        debugger_forward(d, steps - s->steps, stop);
        if (stop->kind != PENTA_STOP_FUEL && stop->kind != PENTA_STOP_BREAK) break;
    }
    if (s->steps == before) { /* standing still: ask where we are */
        session_run(s, 0, stop);
    }
    stop->steps = s->steps - before;
    return s->steps == steps;
}
