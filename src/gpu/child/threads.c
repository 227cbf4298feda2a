/* Runs tasks in THREADS mode: each task is a thread of the system, in real time. A thread holds
 * the lock only for a short slice, so that commands, including cancellations, can be executed
 * between any two slices. */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>
#include "gpu/child/device.h"

bool lock_init(struct lock *l)
{
    return !pthread_mutex_init(&l->tasks, NULL) && !pthread_mutex_init(&l->next, NULL) &&
           !pthread_mutex_init(&l->data, NULL);
}

void lock_fini(struct lock *l)
{
    pthread_mutex_destroy(&l->tasks);
    pthread_mutex_destroy(&l->next);
    pthread_mutex_destroy(&l->data);
}

void lock_host(struct device *d)
{
    pthread_mutex_lock(&d->lock.next);
    pthread_mutex_lock(&d->lock.data);
    pthread_mutex_unlock(&d->lock.next);
}

void device_unlock(struct device *d) { pthread_mutex_unlock(&d->lock.data); }

static void lock_task(struct device *d)
{
    pthread_mutex_lock(&d->lock.tasks);
    lock_host(d);
    pthread_mutex_unlock(&d->lock.tasks);
}

/* Lets a task sleep. The caller holds the lock, which is released during the sleep. Returns
 * false if the task has ended meanwhile. */
static bool sleep_through(struct run *run)
{
    struct device *d = run->device;
    uint64_t from = clock_ms(), until = from + run->sleep_ms;
    bool cut = until > run->deadline;
    if (cut) until = run->deadline;
    struct timespec at = {.tv_sec = (time_t)(until / 1000),
                          .tv_nsec = (long)(until % 1000) * 1000000};
    while (!run->cancel && clock_ms() < until)
        pthread_cond_timedwait(&run->wake, &d->lock.data, &at);
    if (run->cancel)
        tasks_cancelled(run);
    else if (cut)
        tasks_out_of_time(run);
    else
        tasks_awake(run);
    return !run->cancel && !cut;
}

static void *task_main(void *user)
{
    struct run *run = user;
    struct device *d = run->device;
    lock_task(d);
    for (;;) {
        if (run->cancel) {
            tasks_cancelled(run);
            break;
        }
        if (run->deadline != UINT64_MAX && clock_ms() > run->deadline) {
            tasks_out_of_time(run);
            break;
        }
        uint64_t cost, fuel = tasks_slice(run, &cost);
        enum step step = tasks_step(run, fuel);
        if (step == STEP_END || (step == STEP_SLEEP && !sleep_through(run))) break;
        device_unlock(d);
        lock_task(d);
    }
    run->next = d->joinable;
    d->joinable = run;
    device_unlock(d);
    return NULL;
}

void threads_join(struct device *d)
{
    lock_host(d);
    struct run *run = d->joinable;
    d->joinable = NULL;
    device_unlock(d);
    while (run) {
        struct run *next = run->next;
        pthread_join(run->thread, NULL);
        pthread_cond_destroy(&run->wake);
        tasks_free(run);
        run = next;
    }
}

static bool monotonic_condition(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    if (pthread_condattr_init(&attributes)) return false;
    bool ok = !pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) &&
              !pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
    return ok;
}

static bool small_thread(pthread_t *thread, struct run *run)
{
    enum { STACK = 128 << 10 };
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes)) return false;
    pthread_attr_setstacksize(&attributes, STACK);
    bool ok = !pthread_create(thread, &attributes, task_main, run);
    pthread_attr_destroy(&attributes);
    return ok;
}

/* Starts the thread of a task. The caller holds the lock, so that the thread cannot end before
 * the task is among the live tasks. */
gpu_status threads_launch(struct device *d, struct run *run)
{
    if (!monotonic_condition(&run->wake)) return GPU_ERR_THREAD_LAUNCH;
    if (!small_thread(&run->thread, run)) {
        pthread_cond_destroy(&run->wake);
        return GPU_ERR_THREAD_LAUNCH;
    }
    tasks_start(d, run);
    return GPU_OK;
}

/* Waits until the last awaited task has ended, the time is up, or, unless to_the_end is true,
 * the host has closed the channel. */
static void await_done(struct device *d, uint64_t ms, bool to_the_end)
{
    if (d->wait_cap && ms > d->wait_cap && !to_the_end) ms = d->wait_cap;
    uint64_t start = clock_ms(), until = ms < UINT64_MAX - start ? start + ms : UINT64_MAX;
    int input = to_the_end || !d->channel ? -1 : d->channel->in;
    for (;;) {
        uint64_t at = clock_ms(), left = at < until ? until - at : 0;
        struct pollfd p[2] = {{.fd = d->done, .events = POLLIN},
                              {.fd = input, .events = POLLRDHUP}};
        int n = poll(p, 2, left > INT_MAX ? INT_MAX : (int)left);
        if (n > 0 || (n < 0 && errno != EINTR)) return;
        if (clock_ms() >= until) return;
    }
}

/* Waits at most `ms` milliseconds. Returns how many of the awaited tasks still run. */
static uint32_t threads_await(struct device *d, uint32_t launch, uint32_t newest, uint64_t ms,
                              bool to_the_end)
{
    lock_host(d);
    uint32_t left = tasks_count_waited(d, launch, newest);
    bool waiting = left && ms;
    d->wait_left = waiting ? left : 0;
    device_unlock(d);
    if (!waiting) return left;
    await_done(d, ms, to_the_end);
    lock_host(d);
    left = d->wait_left;
    d->wait_left = 0;
    device_unlock(d);
    eventfd_t value;
    if (!left) eventfd_read(d->done, &value); /* The descriptor was written exactly once. */
    return left;
}

uint32_t threads_wait(struct device *d, uint32_t launch, uint32_t newest, uint64_t ms)
{
    uint32_t left = threads_await(d, launch, newest, ms, false);
    threads_join(d);
    return left;
}

static void threads_cancel_run(struct run *run)
{
    run->cancel = true;
    pthread_cond_signal(&run->wake);
}

void threads_cancel(struct device *d, uint32_t launch)
{
    lock_host(d);
    struct task *one = tasks_find(d, launch);
    if (one && one->run) threads_cancel_run(one->run);
    for (struct run *r = launch ? NULL : d->alive; r; r = r->next) threads_cancel_run(r);
    device_unlock(d);
    threads_await(d, launch, 0, UINT64_MAX, true);
    threads_join(d);
}
