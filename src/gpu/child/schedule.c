/* Runs tasks in SERIAL and SEEDED mode: without threads, on a virtual clock, with the same
 * result every time (DEVICE 3).
 *
 *  SEEDED interleaves tasks instruction by instruction: if more than one task can run, a random
 * generator chooses the next one. It chooses a thread of a grid in the same way. Sleeping tasks
 * can run again, in launch order, when the clock reaches their time. The clock moves only when
 * all tasks sleep, and during a Wait no further than the deadline of the Wait. */
#include <stdlib.h>
#include "gpu/child/device.h"
#include "base/array.h"

/* Tells whether the host has closed the channel. Long runs call this from time to time. */
static bool schedule_abandoned(const struct device *d, uint64_t *work, uint64_t done)
{
    enum { EVERY = 1 << 16 };
    *work += done;
    if (*work < EVERY) return false;
    *work = 0;
    return d->channel && d->channel->in >= 0 && channel_hung_up(d->channel);
}

gpu_status serial_run(struct device *d, struct run *run)
{
    uint64_t work = 0;
    for (;;) {
        uint64_t cost, fuel = tasks_slice(run, &cost);
        enum step step = tasks_step(run, fuel);
        if (step == STEP_END) break;
        if (step == STEP_SLEEP) {
            if (run->sleep_ms > run->deadline - d->clock) {
                d->clock = run->deadline;
                tasks_out_of_time(run);
                break;
            }
            d->clock += run->sleep_ms;
            tasks_awake(run);
        }
        if (schedule_abandoned(d, &work, cost)) {
            tasks_cancelled(run);
            break;
        }
    }
    tasks_free(run);
    return GPU_OK;
}

/* The functions below are for SEEDED mode. */

/* Inserts a task into a list that is in launch order. seeded_add has made the list large enough
 * for all live tasks. */
static void schedule_put(struct run **list, size_t *count, struct run *run)
{
    size_t i = (*count)++;
    uint32_t launch = run->task->record.launch_id;
    for (; i && list[i - 1]->task->record.launch_id > launch; i--) list[i] = list[i - 1];
    list[i] = run;
}

static void schedule_take(struct run **list, size_t *count, size_t i)
{
    memmove(&list[i], &list[i + 1], (--*count - i) * sizeof *list);
}

bool seeded_add(struct device *d, struct run *run)
{
    if (!ARRAY_RESERVE(d->runnable, d->runnable_capacity, d->alive_count + 1) ||
        !ARRAY_RESERVE(d->sleeping, d->sleeping_capacity, d->alive_count + 1))
        return false;
    tasks_start(d, run);
    schedule_put(d->runnable, &d->runnable_count, run);
    return true;
}

static size_t schedule_draw(struct device *d, size_t n)
{
    d->random += UINT64_C(0x9E3779B97F4A7C15); /* The generator is splitmix64. */
    uint64_t z = d->random;
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    z ^= z >> 31;
    return (size_t)((z >> 32) * n >> 32);
}

static void fall_asleep(struct device *d, size_t i)
{
    struct run *run = d->runnable[i];
    schedule_take(d->runnable, &d->runnable_count, i);
    run->cut = run->sleep_ms > run->deadline - d->clock;
    run->wake_at = run->cut ? run->deadline : d->clock + run->sleep_ms;
    schedule_put(d->sleeping, &d->sleeping_count, run);
}

/* Wakes or ends all tasks whose time has come. */
static void schedule_wake(struct device *d)
{
    for (size_t i = 0; i < d->sleeping_count;) {
        struct run *run = d->sleeping[i];
        if (run->wake_at > d->clock) {
            i++;
            continue;
        }
        schedule_take(d->sleeping, &d->sleeping_count, i);
        if (run->cut) {
            tasks_out_of_time(run);
            tasks_free(run);
            continue;
        }
        tasks_awake(run);
        schedule_put(d->runnable, &d->runnable_count, run);
    }
}

/* Chooses among the threads of a grid: the one with the number that was drawn, or the first one
 * after it that can run. */
static void choose_thread(struct device *d, struct kblob_vm *vm)
{
    uint32_t thread;
    if (!vm->grid.stuck &&
        kblob_grid_next(&vm->grid, (uint32_t)schedule_draw(d, vm->grid.count), &thread))
        kblob_grid_choose(vm, thread);
}

static void step_one(struct device *d, uint64_t *work)
{
    size_t i = d->runnable_count > 1 ? schedule_draw(d, d->runnable_count) : 0;
    struct run *run = d->runnable[i];
    bool grid = run->vm.grid.count > 1;
    if (grid) choose_thread(d, &run->vm);
    uint64_t cost = tasks_cost(run->vm.program + run->vm.pc);
    uint64_t fuel = d->runnable_count > 1 || grid ? 1 : tasks_slice(run, &cost);
    *work += cost;
    switch (tasks_step(run, fuel)) {
    case STEP_MORE: break;
    case STEP_SLEEP: fall_asleep(d, i); break;
    case STEP_END: schedule_take(d->runnable, &d->runnable_count, i); tasks_free(run);
    }
}

static uint64_t next_wake(const struct device *d)
{
    uint64_t at = UINT64_MAX;
    for (size_t i = 0; i < d->sleeping_count; i++)
        if (d->sleeping[i]->wake_at < at) at = d->sleeping[i]->wake_at;
    return at;
}

uint32_t seeded_wait(struct device *d, uint32_t launch, uint32_t newest, uint64_t ms)
{
    uint64_t work = 0, until = ms < UINT64_MAX - d->clock ? d->clock + ms : UINT64_MAX;
    bool fence = launch == WAIT_FENCE;
    d->wait_left = fence ? 0 : tasks_count_waited(d, launch, newest);
    while ((fence || d->wait_left) && !schedule_abandoned(d, &work, 0)) {
        if (d->runnable_count) {
            step_one(d, &work);
            continue;
        }
        uint64_t next = next_wake(d);
        if (!d->sleeping_count || fence) break;
        d->clock = next < until ? next : until;
        if (next > until) break;
        schedule_wake(d);
    }
    uint32_t left = d->wait_left;
    d->wait_left = 0;
    return left;
}

static void cancel_in(struct run **list, size_t *count, const struct run *run)
{
    for (size_t i = *count; i-- > 0;) {
        struct run *one = list[i];
        if (run && one != run) continue;
        schedule_take(list, count, i);
        tasks_cancelled(one);
        tasks_free(one);
    }
}

void seeded_cancel(struct device *d, struct run *run)
{
    cancel_in(d->runnable, &d->runnable_count, run);
    cancel_in(d->sleeping, &d->sleeping_count, run);
}
