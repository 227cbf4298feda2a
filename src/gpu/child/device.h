/* The device runs in the child process. One command loop owns everything; in THREADS mode
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
 * Instructions are atomic, because each runs under the lock. A guest address is looked up and
 * never dereferenced, so that no program can harm the device. */
#pragma once
#include <pthread.h>
#include <stdatomic.h>
#include "gpu/channel.h"
#include "kblob/vm/vm.h"

struct kernel {
    uint32_t id, count; /* count: number of instructions of the kernel */
    bool grid;          /* true for a kernel of version 2, which is launched as a grid of threads */
    uint32_t blob_size;
    uint8_t sha256[32];
    struct kblob_decoded *program; /* the decoded program, with a KBLOB_OP_END at its end */
    /* The table, running tasks, and records for reports refer to the kernel; this counts the
     * references. */
    atomic_uint references;
};

/* A task has a record, which exists until a reset, and a part that exists while the task runs. */
struct task {
    struct wire_task record; /* complete only when the task has ended; see tasks_record */
    struct kernel *kernel;   /* NULL if no report needs the kernel any more */
    uint8_t *args;
    size_t args_size;
    struct wire_task_grid grid; /* complete only when the task has ended */
    struct grid_check *check;   /* for a grid with RACE_CHECK or INIT_CHECK, else NULL */
    /* This is the launch id that was next when the host saw the end of the task, and 0 before. */
    uint32_t observed;
    struct run *run; /* NULL when the task has ended */
};

struct run {
    struct kblob_vm vm;
    struct device *device;
    struct task *task;
    /* Links in the list of live tasks, or in the list of threads to join. */
    struct run *next, **link;
    uint64_t limit;    /* largest number of instructions */
    uint64_t deadline; /* time on the device's clock when the wall time is used up */
    uint64_t wake_at;  /* time on the device's clock when a sleeping task wakes */
    uint64_t sleep_ms; /* duration of the SLEEP */
    /* This is true if the deadline comes before the end of the SLEEP (SEEDED mode) */
    bool cut;
    bool cancel;
    pthread_t thread;
    pthread_cond_t wake;
};

/* This lock gives the host priority. Tasks wait at `tasks`, and only one of them at a time
 * competes with the host at `next`. So a command waits for at most one slice, even if many tasks
 * run. */
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
    bool ready, ended,
        allocated;   /* true after Init; after Shutdown; after an Alloc, even one that failed */
    uint64_t opened; /* clock_ms when the device was opened */
    /* These limits are for tests: the most milliseconds of real waits, the most memory, and the
     * most instructions of grids; 0 means no limit. */
    uint64_t wait_cap, memory_cap, fuel_cap;

    struct kblob_memory memory;
    struct kernel **kernels; /* the registered kernels, sorted by id */
    size_t kernel_count, kernel_capacity;
    struct task **tasks; /* the task with launch id i is tasks[i - 1] */
    uint32_t task_count;
    size_t task_capacity;
    /* The host has seen the ends of this many tasks, counted from the first. */
    uint32_t all_observed;
    struct run *alive, *joinable;
    uint32_t alive_count;
    struct wire_fault *faults;
    size_t fault_count, fault_capacity;

    uint64_t clock;  /* virtual milliseconds in SERIAL and SEEDED mode */
    uint64_t random; /* state of the random generator for SEEDED mode */
    struct run **runnable, **sleeping;
    size_t runnable_count, sleeping_count, runnable_capacity, sleeping_capacity;

    uint32_t wait_launch, wait_newest; /* the launches for which the command loop waits */
    uint32_t wait_left;
    int done; /* an eventfd that is written when wait_left becomes 0 */

    struct shadow *shadow; /* state of the check INIT_CHECK, or NULL without it */
    size_t check_pages;    /* number of pages of all running grids (grid_check.c) */
    int trace;             /* file descriptor of the trace, or -1 */
    struct writer events;  /* lines that have not been written to the trace yet */

    struct writer reply; /* the data of the answer to the current command */
    uint8_t *staging;    /* payload of the current command, or the data that it read */
    size_t staging_size;
};

bool device_init(struct device *d, int trace);
void device_fini(struct device *d); /* cancels what runs and waits for its end */
/* Serves commands until Shutdown or until the channel closes. */
void device_serve(struct device *d, struct channel *channel);

/* commands.c: executes a command. *data gets the data of the answer, which are valid until the
 * next call. */
gpu_status device_command(struct device *d, const struct wire_request *request, penta_bytes payload,
                          penta_bytes *data);
gpu_status device_check_range(const struct device *d, uint64_t address, uint64_t size,
                              gpu_status outside);
void device_reset(struct device *d);
bool device_stage(struct device *d,
                  uint64_t size); /* makes d->staging this large; returns false if memory ran out */
static inline bool device_deterministic(const struct device *d)
{
    return d->settings.mode != GPU_MODE_THREADS;
}

/* kernels.c defines the functions below. */
gpu_status kernels_register(struct device *d, uint32_t id, penta_bytes blob,
                            struct wire_refusal *refusal);
struct kernel *kernels_find(const struct device *d, uint32_t id);
bool kernels_remove(struct device *d, uint32_t id);
void kernels_clear(struct device *d);
void kernel_release(struct kernel *kernel); /* drops a reference; `kernel` may be NULL */

/* The functions of tasks.c must be called with the data lock held. */
struct task *tasks_find(const struct device *d, uint32_t launch);
/* Makes the record of a task and its running part, which is not added to the live tasks. Returns
 * NULL if memory ran out. */
struct run *tasks_new(struct device *d, struct kernel *kernel, const struct kblob_launch *launch);
void tasks_drop(struct device *d, struct run *run); /* removes the newest task, which never ran */
/* Frees the running part when the task has ended. */
void tasks_free(struct run *run);
void tasks_start(struct device *d, struct run *run);
void tasks_clear(struct device *d);
enum step { STEP_MORE, STEP_SLEEP, STEP_END };
/* Runs up to `fuel` instructions. When the task ends, its record becomes final. */
enum step tasks_step(struct run *run, uint64_t fuel);
/* Returns the work of an instruction. The unit is about one plain instruction or 4 KiB of
 * MEMSET. */
uint64_t tasks_cost(const struct kblob_decoded *in);
/* Returns how many of the next instructions take a few milliseconds together, at least 1. *cost
 * becomes their work. */
uint64_t tasks_slice(const struct run *run, uint64_t *cost);
void tasks_awake(struct run *run);     /* ends the SLEEP of a task */
void tasks_cancelled(struct run *run); /* ends a task that was cancelled */
void tasks_out_of_time(struct run *run);
/* Returns the record as it is now; the task may still run. */
struct wire_task tasks_record(const struct task *task);
void tasks_observe(struct device *d, uint32_t launch, uint32_t newest);
uint32_t tasks_count_waited(struct device *d, uint32_t launch, uint32_t newest);

/* threads.c defines the functions below. */
bool lock_init(struct lock *l);
void lock_fini(struct lock *l);
void lock_host(struct device *d);
void device_unlock(struct device *d);
gpu_status threads_launch(struct device *d, struct run *run);
uint32_t threads_wait(struct device *d, uint32_t launch, uint32_t newest, uint64_t ms);
void threads_cancel(struct device *d,
                    uint32_t launch); /* launch 0 means all; returns when they have ended */
void threads_join(struct device *d);  /* joins the threads whose tasks have ended */

/* schedule.c defines the functions below. */
gpu_status serial_run(struct device *d, struct run *run);
bool seeded_add(struct device *d, struct run *run);
uint32_t seeded_wait(struct device *d, uint32_t launch, uint32_t newest, uint64_t ms);
void seeded_cancel(struct device *d, struct run *run); /* `run` is NULL for all tasks */

/* grid_check.c defines the functions below. */
struct span { /* the bytes that an instruction accessed, from the first to the last */
    uint64_t from, last;
    uint32_t index;
};
struct spans {
    /* After spans_settle they do not overlap, and are sorted by index and `from`. */
    struct span *items;
    size_t count, capacity, settled;
    bool full; /* true if there was no room for all spans */
};
struct grid_check *grid_check_new(struct run *run); /* returns NULL if memory ran out */
void grid_check_free(struct grid_check *check);     /* frees the struct; `check` may be NULL */
/* Takes the accesses from the log of the machine. */
void grid_check_take(struct run *run);
void grid_check_end(struct grid_check *check); /* called when the task has ended */
const struct spans *grid_check_accesses(struct grid_check *check);
/* Returns the bytes that the grid read before it wrote them. */
const struct spans *grid_check_exposed(const struct grid_check *check);
const struct wire_race_threads *grid_check_races(const struct grid_check *check, size_t *count);
unsigned grid_access_kind(uint8_t op); /* returns the enum kblob_access_kind of an opcode, or 0 */

/* events.c writes the trace. `thread` is the thread of a grid that executed the instruction. */
void events_instruction(struct run *run, uint32_t index, uint32_t thread, bool faulted);
void events_end(struct run *run);
void events_flush(struct device *d);

/* races.c and shadow.c write records in the order of (launch A, launch B, index A, index B),
 * with or without the threads of grids. */
void races_report(struct device *d, bool threads, struct writer *out);
/* Returns the record as it is now; the task may still run. */
struct wire_task_grid tasks_grid(const struct task *task);
bool shadow_init(struct device *d);
void shadow_fini(struct device *d);
void shadow_alloc(struct device *d, uint64_t base, uint64_t size);
void shadow_free(struct device *d, uint64_t base);
void shadow_write(struct device *d, uint64_t address,
                  uint64_t size); /* called when the host has written these bytes */
void shadow_launch(struct device *d, uint32_t launch);
const struct wire_race_threads *shadow_findings(struct device *d, size_t *count);
