/* The device, which runs in the child process. One command loop owns everything; in THREADS mode
 * the tasks share memory and records with it under one lock.
 *
 *     serve.c     receives requests, dispatches them, answers
 *     commands.c  one handler per command
 *     kernels.c   from kernel ids to programs, which never change
 *     tasks.c     records of tasks, and what ends a task
 *     threads.c   runs tasks in THREADS mode
 *     schedule.c  runs tasks in SERIAL and SEEDED mode
 *     races.c     the race report: between tasks
 *     grid_check.c    what the threads of a grid accessed, and races among them
 *     shadow.c    the report of uninitialised reads
 *     events.c    the trace
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
    bool grid;          /* of version 2: launched as threads */
    uint32_t blob_size;
    uint8_t sha256[32];
    struct kblob_decoded *program; /* decoded, with its end mark */
    atomic_uint references;        /* by the table, by running tasks, by records for reports */
};

struct task {                /* a record that stays until reset, and the running part */
    struct wire_task record; /* complete only after the end of the task: see tasks_record */
    struct kernel *kernel;   /* NULL when no report needs it any more */
    uint8_t *args;
    size_t args_size;
    struct wire_task_grid grid; /* complete only after the end of the task */
    struct grid_check *check;   /* of a grid, with RACE_CHECK or INIT_CHECK; else NULL */
    uint32_t observed;          /* the next launch id when the host saw the end; 0: not yet */
    struct run *run;            /* NULL when it ended */
};

struct run {
    struct kblob_vm vm;
    struct device *device;
    struct task *task;
    struct run *next, **link; /* list of what is alive, or of threads to join */
    uint64_t limit;           /* of instructions */
    uint64_t deadline;        /* of the wall time limit, on the device's clock */
    uint64_t wake_at;         /* while asleep, same clock */
    uint64_t sleep_ms;        /* what the SLEEP asked for */
    bool cut;                 /* the deadline comes before the end of the SLEEP (SEEDED) */
    bool cancel;
    pthread_t thread;
    pthread_cond_t wake;
};

/* The host has priority: tasks wait at `tasks`, and only one of them competes with the host at
 * `next`, so that a command waits for one slice at most, however many tasks are busy. */
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
    bool ready, ended, allocated; /* there was an Init; a Shutdown; an Alloc, even if it failed */
    uint64_t opened;              /* clock_ms */
    /* tests: bounds for real waits (ms), memory and instructions of grids; 0: none */
    uint64_t wait_cap, memory_cap, fuel_cap;

    struct kblob_memory memory;
    struct kernel **kernels; /* ascending by id */
    size_t kernel_count, kernel_capacity;
    struct task **tasks; /* launch id - 1 */
    uint32_t task_count;
    size_t task_capacity;
    uint32_t all_observed; /* the host has seen the end of that many first tasks */
    struct run *alive, *joinable;
    uint32_t alive_count;
    struct wire_fault *faults;
    size_t fault_count, fault_capacity;

    uint64_t clock;  /* virtual ms of SERIAL and SEEDED */
    uint64_t random; /* state of the interleaving */
    struct run **runnable, **sleeping;
    size_t runnable_count, sleeping_count, runnable_capacity, sleeping_capacity;

    uint32_t wait_launch, wait_newest; /* what the command loop waits for, while it does */
    uint32_t wait_left;
    int done; /* eventfd: wait_left became 0 */

    struct shadow *shadow; /* INIT_CHECK, else NULL */
    size_t check_pages;    /* of all grids that run: see grid_check.c */
    int trace;             /* descriptor of the trace file, -1: none */
    struct writer events;  /* lines not yet in it */

    struct writer reply; /* response data of the current command */
    uint8_t *staging;    /* payload, or data read, of the current command */
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
bool device_stage(struct device *d, uint64_t size); /* d->staging has this size; false: no memory */
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
struct run *tasks_new(struct device *d, struct kernel *kernel, const struct kblob_launch *launch);
void tasks_drop(struct device *d, struct run *run); /* the newest, which never ran */
void tasks_free(struct run *run);                   /* the running part, after its end */
void tasks_start(struct device *d, struct run *run);
void tasks_clear(struct device *d);
enum step { STEP_MORE, STEP_SLEEP, STEP_END };
/* Up to fuel instructions; at the end of the task its record is final. */
enum step tasks_step(struct run *run, uint64_t fuel);
/* Work in units of about an instruction, or 4 KiB of MEMSET. */
uint64_t tasks_cost(const struct kblob_decoded *in);
/* How many of the next instructions make a slice of a few milliseconds, at least 1; *cost is their
 * cost. */
uint64_t tasks_slice(const struct run *run, uint64_t *cost);
void tasks_awake(struct run *run);     /* its SLEEP is over */
void tasks_cancelled(struct run *run); /* ends it */
void tasks_out_of_time(struct run *run);
struct wire_task tasks_record(const struct task *task); /* as of now, while it runs */
void tasks_observe(struct device *d, uint32_t launch, uint32_t newest);
uint32_t tasks_count_waited(struct device *d, uint32_t launch, uint32_t newest);

/* threads.c */
bool lock_init(struct lock *l);
void lock_fini(struct lock *l);
void lock_host(struct device *d);
void device_unlock(struct device *d);
gpu_status threads_launch(struct device *d, struct run *run);
uint32_t threads_wait(struct device *d, uint32_t launch, uint32_t newest, uint64_t ms);
void threads_cancel(struct device *d, uint32_t launch); /* 0: all; returns when they ended */
void threads_join(struct device *d);                    /* those that ended */

/* schedule.c */
gpu_status serial_run(struct device *d, struct run *run);
bool seeded_add(struct device *d, struct run *run);
uint32_t seeded_wait(struct device *d, uint32_t launch, uint32_t newest, uint64_t ms);
void seeded_cancel(struct device *d, struct run *run); /* NULL: all */

/* grid_check.c */
struct span { /* bytes that an instruction accessed, both ends included */
    uint64_t from, last;
    uint32_t index;
};
struct spans {
    struct span *items; /* after spans_settle: ascending by index and from, apart */
    size_t count, capacity, settled;
    bool full; /* there was no room for all */
};
struct grid_check *grid_check_new(struct run *run); /* NULL: no memory */
void grid_check_free(struct grid_check *check);     /* NULL is fine */
void grid_check_take(struct run *run);              /* what the machine's log has */
void grid_check_end(struct grid_check *check);      /* the task has ended */
const struct spans *grid_check_accesses(struct grid_check *check);
/* Read before the grid wrote them. */
const struct spans *grid_check_exposed(const struct grid_check *check);
const struct wire_race_threads *grid_check_races(const struct grid_check *check, size_t *count);
unsigned grid_access_kind(uint8_t op); /* enum kblob_access_kind, of an opcode; 0: none */

/* events.c: thread is that of a grid which executed the instruction */
void events_instruction(struct run *run, uint32_t index, uint32_t thread, bool faulted);
void events_end(struct run *run);
void events_flush(struct device *d);

/* races.c, shadow.c: records in the order of (launch A, launch B, index A, index B); with the threads
 * of grids, or without */
void races_report(struct device *d, bool threads, struct writer *out);
struct wire_task_grid tasks_grid(const struct task *task); /* as of now, while it runs */
bool shadow_init(struct device *d);
void shadow_fini(struct device *d);
void shadow_alloc(struct device *d, uint64_t base, uint64_t size);
void shadow_free(struct device *d, uint64_t base);
void shadow_write(struct device *d, uint64_t address, uint64_t size); /* by the host */
void shadow_launch(struct device *d, uint32_t launch);
const struct wire_race_threads *shadow_findings(struct device *d, size_t *count);
