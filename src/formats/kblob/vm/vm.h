/* The machine of a kernel blob has a position in decoded instructions, and a memory that it may
 * share with other machines. A blob of version 2 is launched as a grid: blocks of threads, each
 * with registers of its own. One thread runs at a time (grid.c). */
#pragma once
#include "kblob/kblob.h"
#include "kblob/vm/memory.h"

struct kblob_decoded { /* The struct is small, because a run reads these mostly from memory. */
    uint64_t arg0;
    uint32_t arg1;
    uint8_t op;      /* enum kblob_op, including the additional instructions of the interpreter */
    uint8_t d, a, b; /* numbers of registers; b is KBLOB_ZERO if a constant is used */
};

/* Decodes a program and adds a KBLOB_OP_END at its end. The result never changes, so any number
 * of tasks may share it. */
struct kblob_decoded *kblob_program_new(const struct kblob_module *module,
                                        penta_error *err); /* The caller frees the program. */

enum {
    /* This register is always 0. Instructions use it if their operand is only a constant. */
    KBLOB_ZERO = KBLOB_REGISTERS,
    KBLOB_BLOCK_THREADS_MAX = 1024,
    KBLOB_THREADS_MAX = 1 << 16,
    KBLOB_SHARED_MAX = 64 << 10,  /* most bytes of shared memory of a block */
    KBLOB_SHARED_ALL = 256 << 20, /* most bytes of shared memory of all blocks together */
    /* A thread runs at most this many instructions before the next thread runs. */
    KBLOB_QUANTUM = 1024,
};
/* Every block has its shared memory at this address, just above the addresses of the device. */
#define KBLOB_SHARED_BASE (UINT64_C(1) << 48)

struct kblob_launch {
    uint32_t grid[3], threads[3]; /* number of blocks of the grid, and of threads of a block */
    uint32_t shared;              /* bytes of shared memory of a block */
    penta_bytes args;
};

enum kblob_thread_state { KBLOB_THREAD_READY, KBLOB_THREAD_WAITING, KBLOB_THREAD_ENDED };
struct kblob_thread {
    uint64_t r[KBLOB_REGISTERS + 1];
    /* This is the pc of the thread. The pc of the current thread is that of the machine instead. */
    uint32_t pc;
    uint8_t state;
};
struct kblob_block {
    uint32_t waiting, ended; /* number of threads that wait at the barrier, and that have ended */
    uint32_t barriers;       /* number of barriers that the block has passed */
};

enum kblob_access_kind { KBLOB_READS = 1, KBLOB_WRITES = 2, KBLOB_ATOMIC = 4 };
struct kblob_access {        /* an access by a thread, in the order of the run */
    uint64_t address, value; /* value: the value that is written */
    uint32_t size, pc, thread, barriers;
    uint8_t kind;
};

struct kblob_grid {
    struct kblob_launch launch;   /* The grid owns the arguments of the launch. */
    struct kblob_thread *threads; /* block after block; NULL in version 1 */
    struct kblob_block *blocks;
    uint64_t *ready; /* a bit for each thread: 1 if it can run */
    uint8_t *shared; /* the shared memory of all blocks, one after the other */
    uint32_t count, block_threads, current, ended, quantum;
    bool implicit; /* true if a thread ended without HALT */
    bool stuck;    /* true if the current thread waits for ever, and traps next */
    /* This is the log of accesses, if the caller wants one. A run ends when the log is full. */
    struct kblob_access *log;
    size_t log_count, log_capacity;
};

enum { KBLOB_COUNT_KEY = 1 }; /* the key of the only host call */

struct kblob_vm {
    penta_vm base;
    const struct kblob_decoded *program; /* `count` instructions and a KBLOB_OP_END */
    /* This is the machine's own copy of the program with breakpoints, or NULL. */
    struct kblob_decoded *code;
    /* The table of counts_places; if it is set, the code has COUNT instructions. */
    uint32_t *places;
    uint64_t *hits;              /* for each straight piece of code: the counter of the only path */
    struct kblob_decoded *owned; /* the program, if this machine owns it */
    uint32_t count, pc;
    struct kblob_memory *memory; /* a memory shared with other machines, or &own */
    struct kblob_memory own;
    struct kblob_grid grid;
    bool has_read, asleep; /* has_read: last_read is valid; asleep: a SLEEP waits for its answer */
    /* halted_explicitly: HALT was executed; final: the run cannot continue. */
    bool halted_explicitly, final;
    uint64_t last_read, slept_ms, executed;
    enum kblob_fault fault; /* the fault of the instruction at pc, if final */
    uint64_t fault_address, fault_size;
    /* This is true if the machine stopped at the breakpoint at pc, which the next run passes. */
    bool at_break;
    bool started; /* before this is true, pokes set the initial memory */
    bool yields;  /* true if a run ends early after an instruction that took long */
};

static inline struct kblob_vm *kblob_vm(penta_vm *vm) { return (struct kblob_vm *)vm; }

/* Prepares a machine that the caller has allocated, with a decoded program and a memory that the
 * caller owns. */
void kblob_vm_init(struct kblob_vm *vm, const struct kblob_decoded *program, uint32_t count,
                   struct kblob_memory *memory);
void kblob_vm_run(penta_vm *vm, uint64_t fuel, penta_stop *stop);
/* Returns how many bytes at its arg0 an instruction of version 1 accesses. */
uint64_t kblob_access_size(const struct kblob_decoded *in);
bool kblob_access_writes(const struct kblob_decoded *in);

/* grid.c has the functions for a launch of version 2; kblob_vm_init must come first. They return
 * false if the launch is too large or memory ran out. */
bool kblob_launch_fits(const struct kblob_launch *launch, penta_error *err);
/* Tells whether it is one thread without shared memory. */
bool kblob_launch_single(const struct kblob_launch *launch);
bool kblob_grid_init(struct kblob_vm *vm, const struct kblob_launch *launch, penta_error *err);
void kblob_grid_free(struct kblob_grid *grid);
static inline uint32_t kblob_grid_block(const struct kblob_grid *g, uint32_t thread)
{
    return thread / g->block_threads;
}
uint64_t kblob_grid_special(const struct kblob_grid *g, uint32_t which);
/* Finds the first thread that is ready, searching from `from` on and then from 0. Returns false
 * if no thread is ready. */
bool kblob_grid_next(const struct kblob_grid *g, uint32_t from, uint32_t *thread);
/* Makes a thread the current one before a run. The thread must be ready. */
void kblob_grid_choose(struct kblob_vm *vm, uint32_t thread);
enum kblob_turn {
    KBLOB_TURN_STAYS,    /* the current thread continues after the instruction */
    KBLOB_TURN_SWITCHED, /* another thread is the current one now */
    KBLOB_TURN_OVER,     /* all threads have ended */
    KBLOB_TURN_STUCK,    /* a barrier is never complete; the first thread at it is current */
};
/* Called when the current thread has arrived at a barrier, which is at pc. */
enum kblob_turn kblob_grid_barrier(struct kblob_vm *vm);
/* Called when the current thread has ended; `halted` tells whether by HALT. */
enum kblob_turn kblob_grid_end(struct kblob_vm *vm, bool halted);
/* Called when the quantum of the current thread is used up. */
enum kblob_turn kblob_grid_rotate(struct kblob_vm *vm);

/* penta_stop.detail of SLEEP: args[0] and the answer are milliseconds. */
enum { KBLOB_HOST_SLEEP = 1 };

extern const struct engine kblob_interp;
extern const struct host kblob_host;
