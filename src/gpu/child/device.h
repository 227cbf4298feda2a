/* The device: what lives in the child process. One command loop owns everything; in THREADS mode
 * the tasks share memory and records with it under one lock.
 *
 *     serve.c    receives requests, dispatches, answers     memory of a call: staging
 *     commands.c one handler per command
 *     kernels.c  kernel id -> immutable program             tasks.c   records and what ends a task
 *     threads.c  THREADS     schedule.c  SERIAL, SEEDED     races.c, shadow.c  reports
 *
 * Instructions are atomic because each runs under the lock. A guest address is looked up, never
 * dereferenced, so that no program can harm the device. */
#pragma once
#include <pthread.h>
#include <stdatomic.h>
#include "gpu/channel.h"
#include "kblob/vm/vm.h"

struct kernel {
    uint32_t id, count; /* instructions */
    uint32_t blob_size;
    uint8_t sha256[32];
    struct kblob_decoded *program; /* decoded, with its end mark */
    atomic_uint references;        /* the table, tasks that run, records that reports look at */
};

struct task {                /* a record that stays until reset, and the running part */
    struct wire_task record; /* facts of the running part are copied here at its end */
    struct kernel *kernel;   /* NULL when nobody needs it any more */
    uint8_t *args;
    size_t args_size;
    uint32_t observed; /* the next launch id when the host saw the end; 0: not yet */
    struct run *run;   /* NULL when it ended */
};

struct run {
    struct kblob_vm vm;
    struct device *device;
    struct task *task;
    struct run *next, **link; /* list of what is alive, or of threads to join */
    uint64_t deadline;        /* of the wall time limit, on the device's clock */
    uint64_t wake_at;         /* while asleep, same clock */
    uint64_t sleep_ms;        /* what the SLEEP asked for */
    bool cut;                 /* the deadline comes before the end of the SLEEP (SEEDED) */
    bool cancel;
    pthread_t thread;
    pthread_cond_t wake;
};

/* The host goes first: tasks queue at `tasks`, only one of them competes with it at `next`, so
 * that a crowd of busy tasks cannot keep a command waiting for more than a slice. */
struct lock {
    pthread_mutex_t tasks, next, data;
};

struct settings {
#define SETTING(number, name, ...) uint64_t name;
#include "gpu/protocol.def"
};

struct device {
    struct settings settings;
    struct lock lock;
    struct channel *channel;
    bool ready, ended, allocated;  /* Init came; Shutdown came; an Alloc succeeded or failed */
    uint64_t opened;               /* clock_ms */
    uint64_t wait_cap, memory_cap; /* tests: bounds for real waits (ms) and memory; 0: none */

    struct kblob_memory memory;
    struct kernel **kernels; /* ascending by id */
    size_t kernel_count, kernel_capacity;
    struct task **tasks; /* launch id - 1 */
    uint32_t task_count, task_capacity;
    uint32_t all_observed; /* the host saw the end of the first so many */
    struct run *alive, *joinable;
    uint32_t alive_count;
    struct wire_fault *faults;
    size_t fault_count, fault_capacity;

    uint64_t clock;  /* virtual ms of SERIAL and SEEDED */
    uint64_t random; /* state of the interleaving */
    struct run **runnable, **sleeping;
    size_t runnable_count, sleeping_count, run_capacity;

    uint32_t wait_launch, wait_newest; /* what the command loop waits for, while it does */
    uint32_t wait_left;
    int done; /* eventfd: wait_left became 0 */

    struct shadow *shadow; /* INIT_CHECK, else NULL */
    int trace;             /* descriptor of the trace file, -1: none */
    struct writer events;  /* lines not yet in it */

    struct writer reply; /* response data of the current command */
    uint8_t *staging;
    size_t staging_size;
};

bool device_init(struct device *d, int trace);
void device_fini(struct device *d); /* cancels and joins what runs */
/* Serves until Shutdown or until the channel closes. */
void device_serve(struct device *d, struct channel *channel);

/* commands.c: the data of the answer in *data, valid until the next call. */
gpu_status device_command(struct device *d, const struct wire_request *request, penta_bytes payload,
                          penta_bytes *data);
gpu_status device_check_range(const struct device *d, uint64_t address, uint64_t size,
                              gpu_status outside);
void device_reset(struct device *d);
bool device_stage(struct device *d, uint64_t size); /* d->staging holds so many; false: no memory */
static inline bool device_deterministic(const struct device *d)
{
    return d->settings.mode != GPU_MODE_THREADS;
}

/* kernels.c */
gpu_status kernels_register(struct device *d, uint32_t id, penta_bytes blob,
                            struct wire_refusal *refusal);
struct kernel *kernels_find(const struct device *d, uint32_t id);
bool kernels_remove(struct device *d, uint32_t id);
void kernels_clear(struct device *d);
void kernel_release(struct kernel *kernel); /* NULL is fine */

/* tasks.c: with the data lock held */
struct task *tasks_find(const struct device *d, uint32_t launch);
/* A record and its running part; NULL: no memory. Not yet among the alive. */
struct run *tasks_new(struct device *d, struct kernel *kernel, penta_bytes args);
void tasks_drop(struct device *d, struct run *run); /* the newest, which never ran */
void tasks_start(struct device *d, struct run *run);
void tasks_clear(struct device *d);
enum step { STEP_MORE, STEP_SLEEP, STEP_END };
/* Up to fuel instructions; at the end of the task its record is final. */
enum step tasks_step(struct run *run, uint64_t fuel);
/* Work in units of about an instruction, or 4 KiB of MEMSET. */
uint64_t tasks_cost(const struct kblob_decoded *in);
/* How many instructions from here make a slice of a few milliseconds at most, if not one alone
 * takes longer; their cost too. */
uint64_t tasks_slice(const struct run *run, uint64_t *cost);
void tasks_awake(struct run *run);     /* its SLEEP is over */
void tasks_cancelled(struct run *run); /* ends it */
void tasks_out_of_time(struct run *run);
struct wire_task tasks_record(const struct task *task); /* also of a running one */
void tasks_observe(struct device *d, uint32_t launch, uint32_t newest);
bool tasks_waited_for(const struct device *d, const struct run *run);
uint32_t tasks_count_waited(struct device *d, uint32_t launch, uint32_t newest);

/* threads.c */
bool lock_init(struct lock *l);
void lock_fini(struct lock *l);
void lock_host(struct device *d);
void unlock(struct device *d);
gpu_status threads_launch(struct device *d, struct run *run);
uint32_t threads_wait(struct device *d, uint32_t launch, uint32_t newest, uint64_t ms);
void threads_cancel(struct device *d, uint32_t launch); /* 0: all; returns when they ended */
void threads_join(struct device *d);                    /* those that ended */

/* schedule.c */
gpu_status serial_run(struct device *d, struct run *run);
bool seeded_add(struct device *d, struct run *run);
uint32_t seeded_wait(struct device *d, uint32_t launch, uint32_t newest, uint64_t ms);
void seeded_cancel(struct device *d, struct run *run); /* NULL: all */

/* events.c */
void events_instruction(struct run *run, uint32_t index, bool faulted);
void events_end(struct run *run);
void events_flush(struct device *d);

/* races.c, shadow.c: records in the order of (launch A, launch B, index A, index B) */
void races_report(struct device *d, struct writer *out);
bool shadow_init(struct device *d);
void shadow_fini(struct device *d);
void shadow_alloc(struct device *d, uint64_t base, uint64_t size);
void shadow_free(struct device *d, uint64_t base);
void shadow_write(struct device *d, uint64_t address, uint64_t size); /* by the host */
void shadow_launch(struct device *d, uint32_t launch);
const struct wire_race *shadow_findings(struct device *d, size_t *count);
