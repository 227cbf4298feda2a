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
 * Instructions are atomic, because each runs under the lock. A guest address is looked up and never dereferenced, so that
 * no program can harm the device. */
#pragma once
#include <pthread.h>
#include <stdatomic.h>
#include "gpu/channel.h"
#include "kblob/vm/vm.h"

struct kernel {
    uint32_t id, count; /* instructions */
    bool grid;          /* a kernel of version 2, which is launched as a grid of threads */
    uint32_t blob_size;
    uint8_t sha256[32];
    struct kblob_decoded *program; /* the decoded program with its end mark */
    atomic_uint references; /* from the table, from running tasks, from records for reports */
};

struct task {                /* a task: a record that stays until a reset, and the running part */
    struct wire_task record; /* complete only after the end of the task (tasks_record) */
    struct kernel *kernel;   /* NULL when no report needs it any more */
    uint8_t *args;
    size_t args_size;
    struct wire_task_grid grid; /* complete only after the end of the task */
    struct grid_check *check;   /* for a grid with RACE_CHECK or INIT_CHECK; else NULL */
    uint32_t observed; /* the next launch id at the time when the host saw the end; 0 before */
    struct run *run;   /* NULL after the end */
};

struct run {
    struct kblob_vm vm;
    struct device *device;
    struct task *task;
    struct run *next, **link; /* links in the list of live tasks, or of threads to join */
    uint64_t limit;           /* the most instructions */
    uint64_t deadline;        /* when the wall time is up, on the device's clock */
    uint64_t wake_at;         /* when a sleeping task wakes, on the same clock */
    uint64_t sleep_ms;        /* the time of the SLEEP */
    bool cut;                 /* the deadline comes before the end of the SLEEP (SEEDED) */
    bool cancel;
    pthread_t thread;
    pthread_cond_t wake;
};

/* A lock that gives the host priority. Tasks wait at `tasks`, and only one of them competes with the host at
 * `next`. So a command waits for at most one slice, however many tasks are busy. */
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
        allocated;   /* after Init; after Shutdown; after Alloc, even one that failed */
    uint64_t opened; /* clock_ms */
    /* For tests: the most milliseconds of real waits, the most memory, the most instructions of grids; 0 for no
     * limit. */
    uint64_t wait_cap, memory_cap, fuel_cap;

    struct kblob_memory memory;
    struct kernel **kernels; /* ascending by id */
    size_t kernel_count, kernel_capacity;
    struct task **tasks; /* launch id - 1 */
    uint32_t task_count;
    size_t task_capacity;
    uint32_t all_observed; /* the host has seen the ends of the first all_observed tasks */
    struct run *alive, *joinable;
    uint32_t alive_count;
    struct wire_fault *faults;
    size_t fault_count, fault_capacity;

    uint64_t clock;  /* virtual milliseconds in SERIAL and SEEDED */
    uint64_t random; /* state of the interleaving */
    struct run **runnable, **sleeping;
    size_t runnable_count, sleeping_count, runnable_capacity, sleeping_capacity;

    uint32_t wait_launch, wait_newest; /* what the command loop is waiting for */
    uint32_t wait_left;
    int done; /* an eventfd that is written when wait_left becomes 0 */

    struct shadow *shadow; /* with INIT_CHECK, else NULL */
    size_t check_pages;    /* pages of all grids that run (grid_check.c) */
    int trace;             /* the descriptor of the trace file, or -1 */
    struct writer events;  /* lines that are not in the trace file so far */

    struct writer reply; /* the response data of the current command */
    uint8_t *staging;    /* the payload of the current command, or the data that it read */
    size_t staging_size;
};

bool device_init(struct device *d, int trace);
void device_fini(struct device *d); /* cancels and joins what runs */
/* Serves until Shutdown or until the channel closes. */
void device_serve(struct device *d, struct channel *channel);

/* commands.c: gives the data of the answer in *data, which is valid until the next call. */
gpu_status device_command(struct device *d, const struct wire_request *request, penta_bytes payload,
                          penta_bytes *data);
gpu_status device_check_range(const struct device *d, uint64_t address, uint64_t size,
                              gpu_status outside);
void device_reset(struct device *d);
bool device_stage(struct device *d,
                  uint64_t size); /* makes d->staging this large; false without memory */
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
/* Makes a record and its running part, which is not among the live tasks so far. NULL when memory ran out. */
struct run *tasks_new(struct device *d, struct kernel *kernel, const struct kblob_launch *launch);
void tasks_drop(struct device *d, struct run *run); /* drops the newest task, which never ran */
void tasks_free(struct run *run);                   /* frees the running part after its end */
void tasks_start(struct device *d, struct run *run);
void tasks_clear(struct device *d);
enum step { STEP_MORE, STEP_SLEEP, STEP_END };
/* Runs up to `fuel` instructions. After the last one the record of the task is final. */
enum step tasks_step(struct run *run, uint64_t fuel);
/* The work of an instruction, in units of about one plain instruction or 4 KiB of MEMSET. */
uint64_t tasks_cost(const struct kblob_decoded *in);
/* How many of the next instructions make a slice of a few milliseconds; at least 1. *cost is their work. */
uint64_t tasks_slice(const struct run *run, uint64_t *cost);
void tasks_awake(struct run *run);     /* ends its SLEEP */
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
void threads_cancel(struct device *d,
                    uint32_t launch); /* launch 0 for all; returns when they have ended */
void threads_join(struct device *d);  /* joins the threads that have ended */

/* schedule.c */
gpu_status serial_run(struct device *d, struct run *run);
bool seeded_add(struct device *d, struct run *run);
uint32_t seeded_wait(struct device *d, uint32_t launch, uint32_t newest, uint64_t ms);
void seeded_cancel(struct device *d, struct run *run); /* NULL: all */

/* grid_check.c */
struct span { /* the bytes that an instruction accessed, both ends included */
    uint64_t from, last;
    uint32_t index;
};
struct spans {
    struct span *items; /* after spans_settle: apart, and ascending by index and `from` */
    size_t count, capacity, settled;
    bool full; /* not all spans had room */
};
struct grid_check *grid_check_new(struct run *run); /* NULL without memory */
void grid_check_free(struct grid_check *check);     /* NULL is fine */
void grid_check_take(struct run *run);              /* takes the accesses from the machine's log */
void grid_check_end(struct grid_check *check);      /* called when the task has ended */
const struct spans *grid_check_accesses(struct grid_check *check);
/* The bytes that the grid read before it wrote them. */
const struct spans *grid_check_exposed(const struct grid_check *check);
const struct wire_race_threads *grid_check_races(const struct grid_check *check, size_t *count);
unsigned grid_access_kind(uint8_t op); /* the enum kblob_access_kind of an opcode, or 0 */

/* events.c: `thread` is the thread of a grid that executed the instruction. */
void events_instruction(struct run *run, uint32_t index, uint32_t thread, bool faulted);
void events_end(struct run *run);
void events_flush(struct device *d);

/* races.c, shadow.c: write the records in the order of (launch A, launch B, index A, index B), with or without the
 * threads of grids. */
void races_report(struct device *d, bool threads, struct writer *out);
struct wire_task_grid tasks_grid(const struct task *task); /* as of now, while it runs */
bool shadow_init(struct device *d);
void shadow_fini(struct device *d);
void shadow_alloc(struct device *d, uint64_t base, uint64_t size);
void shadow_free(struct device *d, uint64_t base);
void shadow_write(struct device *d, uint64_t address,
                  uint64_t size); /* the host wrote these bytes */
void shadow_launch(struct device *d, uint32_t launch);
const struct wire_race_threads *shadow_findings(struct device *d, size_t *count);
