/* The machine of a kernel blob: a place in decoded instructions, and a memory that it may share with other
 * machines. A blob of version 2 is launched as a grid: blocks of threads, each with registers, of which one thread
 * runs at a time (grid.c). */
#pragma once
#include "kblob/kblob.h"
#include "kblob/vm/memory.h"

struct kblob_decoded { /* small, because a run mostly reads these from memory */
    uint64_t arg0;
    uint32_t arg1;
    uint8_t op;      /* enum kblob_op, pseudo-instructions included */
    uint8_t d, a, b; /* registers; b is KBLOB_ZERO when a constant is used */
};

/* Decodes a program, which ends with a KBLOB_OP_END. It never changes, so any number of tasks may share it. */
struct kblob_decoded *kblob_program_new(const struct kblob_module *module,
                                        penta_error *err); /* the caller frees it */

/* ---- grids ---- */

enum {
    KBLOB_ZERO = KBLOB_REGISTERS, /* a register that is always 0, to which constants are added */
    KBLOB_BLOCK_THREADS_MAX = 1024,
    KBLOB_THREADS_MAX = 1 << 16,
    KBLOB_SHARED_MAX = 64 << 10,  /* the most bytes of a block */
    KBLOB_SHARED_ALL = 256 << 20, /* the most bytes of all blocks */
    KBLOB_QUANTUM = 1024,         /* how many instructions a thread runs before the next thread */
};
/* The address at which a block has its shared memory: just above the addresses of the device. */
#define KBLOB_SHARED_BASE (UINT64_C(1) << 48)

struct kblob_launch {
    uint32_t grid[3], threads[3]; /* the blocks of the grid, the threads of a block */
    uint32_t shared;              /* the bytes of shared memory of a block */
    penta_bytes args;
};

enum kblob_thread_state { KBLOB_THREAD_READY, KBLOB_THREAD_WAITING, KBLOB_THREAD_ENDED };
struct kblob_thread {
    uint64_t r[KBLOB_REGISTERS + 1];
    uint32_t pc; /* for the current thread the pc of the machine counts instead */
    uint8_t state;
};
struct kblob_block {
    uint32_t waiting, ended; /* how many threads are at the barrier, and at their end */
    uint32_t barriers;       /* how many barriers it has passed */
};

enum kblob_access_kind { KBLOB_READS = 1, KBLOB_WRITES = 2, KBLOB_ATOMIC = 4 };
struct kblob_access {        /* an access by a thread, in the order of the run */
    uint64_t address, value; /* value: the one that is written */
    uint32_t size, pc, thread, barriers;
    uint8_t kind;
};

struct kblob_grid {
    struct kblob_launch launch;   /* the grid owns its arguments */
    struct kblob_thread *threads; /* block after block; NULL in version 1 */
    struct kblob_block *blocks;
    uint64_t *ready; /* a bit for each thread */
    uint8_t *shared; /* the shared memory of all blocks */
    uint32_t count, block_threads, current, ended, quantum;
    bool implicit; /* a thread ended without HALT */
    bool stuck;    /* the current thread waits for ever, and traps next */
    /* The accesses, when the caller wants them. A run ends when the log is full. */
    struct kblob_access *log;
    size_t log_count, log_capacity;
};

enum { KBLOB_COUNT_KEY = 1 }; /* the key of the only call there is, that of the host */

struct kblob_vm {
    penta_vm base;
    const struct kblob_decoded *program; /* `count` instructions and the end mark */
    struct kblob_decoded *code;          /* the machine's own copy with breakpoints, or NULL */
    uint32_t *places; /* the table of counts_places; the code then has COUNT instructions */
    uint64_t *hits;   /* for each stretch the counter of the only path there is */
    struct kblob_decoded *owned; /* the program, when this machine owns it */
    uint32_t count, pc;
    struct kblob_memory *memory; /* a shared memory, or &own */
    struct kblob_memory own;
    struct kblob_grid grid;
    bool has_read, asleep; /* has_read: last_read is valid; asleep: a SLEEP waits for its answer */
    bool halted_explicitly, final; /* HALT was executed; the run has ended for good */
    uint64_t last_read, slept_ms, executed;
    enum kblob_fault fault; /* the fault of the instruction at pc, when final */
    uint64_t fault_address, fault_size;
    bool at_break; /* stopped at the breakpoint at pc, which the next run passes */
    bool started;  /* pokes before the first run set the initial memory */
    bool yields;   /* a run ends early after an instruction that took long */
};

static inline struct kblob_vm *kblob_vm(penta_vm *vm) { return (struct kblob_vm *)vm; }

/* Prepares a machine in place, with a decoded program and a memory that the caller owns. */
void kblob_vm_init(struct kblob_vm *vm, const struct kblob_decoded *program, uint32_t count,
                   struct kblob_memory *memory);
void kblob_vm_run(penta_vm *vm, uint64_t fuel, penta_stop *stop);
/* How many bytes at its arg0 an instruction of version 1 accesses. */
uint64_t kblob_access_size(const struct kblob_decoded *in);
bool kblob_access_writes(const struct kblob_decoded *in);

/* grid.c: the functions for a launch of version 2, after kblob_vm_init. False when it is too large or memory ran
 * out. */
bool kblob_launch_fits(const struct kblob_launch *launch, penta_error *err);
bool kblob_launch_single(const struct kblob_launch *launch); /* one thread without shared memory */
bool kblob_grid_init(struct kblob_vm *vm, const struct kblob_launch *launch, penta_error *err);
void kblob_grid_free(struct kblob_grid *grid);
static inline uint32_t kblob_grid_block(const struct kblob_grid *g, uint32_t thread)
{
    return thread / g->block_threads;
}
uint64_t kblob_grid_special(const struct kblob_grid *g, uint32_t which);
/* Finds the first thread that is ready, from `from` on and then from 0. False when none is. */
bool kblob_grid_next(const struct kblob_grid *g, uint32_t from, uint32_t *thread);
/* Makes a thread the current one before a run. The thread must be ready. */
void kblob_grid_choose(struct kblob_vm *vm, uint32_t thread);
enum kblob_turn {
    KBLOB_TURN_STAYS,    /* the current thread goes on, after the instruction */
    KBLOB_TURN_SWITCHED, /* another thread is the current one now */
    KBLOB_TURN_OVER,     /* all threads have ended */
    KBLOB_TURN_STUCK,    /* a barrier is never complete; the first thread at it is current */
};
enum kblob_turn kblob_grid_barrier(struct kblob_vm *vm); /* the current thread arrived at pc */
enum kblob_turn kblob_grid_end(struct kblob_vm *vm, bool halted); /* the current thread ended */
enum kblob_turn kblob_grid_rotate(struct kblob_vm *vm);           /* its quantum is over */

enum { KBLOB_HOST_SLEEP = 1 }; /* penta_stop.detail: args[0] ms; the answer is the ms slept */

extern const struct engine kblob_interp;
extern const struct host kblob_host;
