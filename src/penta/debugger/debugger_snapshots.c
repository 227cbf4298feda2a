/* Decides when the debugger takes snapshots and which ones it keeps. Going back loads a snapshot
 * and runs on from there, so more snapshots make it faster. But snapshots must take little time
 * and bounded memory. */
#include <stdlib.h>
#include <time.h>
#include "base/array.h"
#include "core/snapshot.h"
#include "penta/debugger/debugger_struct.h"

enum { COUNT_MAX = 64, INTERVAL_FIRST = 16, RUN_PER_SAVE = 16 };
static const size_t bytes_max = (size_t)256 << 20;

/* Returns the processor time in nanoseconds. */
static uint64_t debugger_snapshots_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void debugger_snapshots_drop(struct penta_debugger *d, size_t i)
{
    d->snapshot_bytes -= d->snapshots[i].bytes.size;
    penta_buffer_free(&d->snapshots[i].bytes);
}

/* Drops every other snapshot, but not the start, and doubles the interval. So there are between 32 and 64 snapshots,
 * or as many as fit into the memory. */
static void snapshots_thin_out(struct penta_debugger *d)
{
    size_t kept = 0;
    for (size_t i = 0; i < d->snapshot_count; i++) {
        if (i % 2)
            debugger_snapshots_drop(d, i);
        else
            d->snapshots[kept++] = d->snapshots[i];
    }
    d->snapshot_count = kept;
    d->interval *= 2;
}

bool snapshots_take(struct penta_debugger *d)
{
    const struct penta_session *s = d->session;
    uint64_t start = debugger_snapshots_now();
    if (!d->interval) d->interval = INTERVAL_FIRST;
    if (d->snapshot_count == COUNT_MAX) snapshots_thin_out(d);
    if (!ARRAY_GROW(d->snapshots, d->snapshot_capacity, d->snapshot_count, &d->err)) return false;
    struct debugger_snapshot new = {.steps = s->steps, .calls = s->calls};
    penta_error err;
    bool saved = penta_vm_save(s->vm, &new.bytes, &err);
    error_keep_first(&d->err, &err);
    if (!saved) return false;
    d->snapshots[d->snapshot_count++] = new;
    d->snapshot_bytes += new.bytes.size;
    while (d->snapshot_bytes > bytes_max && d->snapshot_count > 1) snapshots_thin_out(d);
    d->saved_at = debugger_snapshots_now();
    d->save_time = d->saved_at - start;
    d->wait = d->interval;
    d->next_snapshot = s->steps + d->wait;
    return true;
}

void snapshots_due(struct penta_debugger *d)
{
    uint64_t steps = d->session->steps;
    if (steps < d->next_snapshot) return;
    if (debugger_snapshots_now() - d->saved_at >= RUN_PER_SAVE * d->save_time) {
        snapshots_take(d);
        return;
    }
    /* It is too early for a snapshot as large as the last one. */
    d->wait *= 2;
    d->next_snapshot = steps + d->wait;
}

void snapshots_forget(struct penta_debugger *d)
{
    while (d->snapshot_count && d->snapshots[d->snapshot_count - 1].steps > d->session->steps)
        debugger_snapshots_drop(d, --d->snapshot_count);
    d->wait = d->interval;
    d->next_snapshot = d->session->steps + d->wait;
}

const struct debugger_snapshot *snapshots_before(const struct penta_debugger *d, uint64_t step)
{
    size_t i = d->snapshot_count;
    while (i > 1 && d->snapshots[i - 1].steps > step) i--;
    return &d->snapshots[i - 1];
}

void snapshots_free(struct penta_debugger *d)
{
    while (d->snapshot_count) debugger_snapshots_drop(d, --d->snapshot_count);
    free(d->snapshots);
}
