/* The machine: its registers, pc, gas and memory, what it waits for, and the calls that it has
 * still to make. */
#pragma once
#include "pvm/vm/cells.h"
#include "pvm/format/layout.h"
#include "pvm/vm/memory/memory.h"
#include "pvm/pvm.h"

/* clang-format off */
enum {
    PVM_RA, PVM_SP, PVM_T0, PVM_T1, PVM_T2, PVM_S0, PVM_S1, PVM_A0, PVM_A1, PVM_A2, PVM_A3, PVM_A4,
    PVM_A5,
    PVM_ARGUMENTS = 9,       /* a0 .. a5, t0 .. t2 */
    PVM_HOST_NAME = 64,      /* names of host calls are shown up to this size */
};
/* clang-format on */
#define PVM_RETURN_ADDRESS UINT32_C(0xffff0000) /* a jump there ends the call */

/* The part that the engines share, in the page below guest address 0 (memory.h). The registers
 * of a 32-bit ISA are zero-extended while no engine runs. */
struct pvm_state {
    uint64_t regs[16];
    int64_t gas; /* the gas that is left, which is at least 0 */
    uint32_t pc;
    /* These members belong to the interpreter (handlers.h). */
    uint32_t exit; /* a number of enum pvm_exit: why the handlers returned; 0 while they run */
    const struct pvm_cell *cell, *loop;
    int64_t left;
    uint64_t acc;
    const struct pvm_cell *cells;
    const uint32_t *table;
    uint32_t table_count;
    struct pvm_memory *memory;
    bool wraps;
    /* Set while a profiler counts. The next member is the distance from a counting cell to the
     * shared one. */
    struct counts *counts;
    intptr_t plain_distance; /* in bytes */
    /* Of the block that runs now, if it loops. loop_left is the budget when the block was
     * entered. */
    uint64_t *loop_count;
    /* Repeats are subtracted here again, because they are no calls; or NULL. */
    uint64_t *loop_calls;
    int64_t loop_left;
    uint32_t loop_charge;
    /* These members belong to compiled code (jit.h). */
    uint32_t host_number;
    uint64_t native_at; /* the native address where it stopped */
    const atomic_bool *interrupt;
};

enum pvm_exit {
    PVM_EXIT_NONE,
    PVM_EXIT_CHARGE, /* the budget is too small for the block at cell */
    PVM_EXIT_TRAP,
    PVM_EXIT_HALT,
    PVM_EXIT_HOST,
    PVM_EXIT_FAULT,
    PVM_EXIT_STEP, /* the step engine has to do the instruction at cell */
    PVM_EXIT_BREAK,
};

/* What has to happen before the machine can go on. */
enum pvm_wait {
    PVM_READY,
    PVM_WAIT_ANSWER, /* a host call waits for its answer */
    PVM_HALTED,
    PVM_TRAPPED, /* final until a new call */
    PVM_UNPAID,  /* final, too: there was too little gas for a host call */
};

/* The values of penta_stop.detail for a trap. */
enum pvm_trap {
#define TRAP(number, id, ...) PVM_TRAP_##id = number,
#include "pvm/traps.def"
    PVM_TRAPS
};

/* A host such as revive is asked before each call and told after it. The machine stops for that
 * as it does for host calls, with the two numbers below. */
enum pvm_announce {
    PVM_UNTOLD,     /* the host is not told, and calls follow each other */
    PVM_TELL_BEGIN, /* the next run stops with PVM_CALL_BEGINS */
    PVM_TOLD_BEGIN, /* the call runs */
    PVM_TELL_END,   /* the next run stops with PVM_CALL_ENDED */
    PVM_TOLD_END,
};
#define PVM_CALL_BEGINS UINT32_C(0xfffffffe)
/* The arguments of this stop are the kind of the run's stop, its detail, and its args[0]. */
#define PVM_CALL_ENDED UINT32_C(0xffffffff)

struct pvm_call {
    uint32_t pc;
    uint64_t regs[PVM_REGISTERS];
};

struct pvm_vm {
    penta_vm base;
    struct pvm_memory memory;
    struct pvm_state *state; /* the same as memory.state */
    struct pvm_cells *cells;
    struct pvm_cell *own; /* cells with breakpoints, or NULL */
    uint8_t *marked;      /* for each cell whether it has a breakpoint, or NULL */
    bool at_break;        /* the last run stopped at a breakpoint */
    uint32_t break_pc;    /* the pc of that breakpoint */
    uint32_t *places;     /* for each block, from counts_places; then `own` has counting handlers */
    uint32_t hint;        /* probably the cell of the instruction at pc */
    bool metered, paging, w32;
    bool by_step; /* gas model step: gas is exact while no engine runs */
    /* The block around pc is charged. by_step: while the machine runs, its rest from pc on is
     * charged. */
    bool paid;
    enum pvm_wait wait;
    enum pvm_trap trap;
    uint64_t executed; /* UINT64_MAX: compiled code ran, which does not count instructions */
    uint64_t host_calls;
    uint32_t host_number; /* the number of the call that waits */
    char *host_name;      /* a buffer for the name of a host call */
    int64_t gas_start;
    uint64_t gas_refilled; /* the sum of what penta_pvm_gas_set has added, modulo 2^64 */
    struct pvm_layout layout;
    uint64_t heap_size;
    struct pvm_call *calls; /* the calls to make, from next_call on */
    size_t call_count, next_call;
    bool remapped;           /* the host changed the memory map, so pvm_vm_clear makes it anew */
    bool fresh_calls;        /* each call starts with the initial memory */
    enum call_end on_answer; /* whether the call goes on after the next answer */
    uint64_t answer_gas;     /* what the next answer costs */
    enum pvm_announce announce;
    _Atomic(struct pvm_vm *) inner; /* a machine that the host runs for this one, or NULL */
    struct pvm_pool *pool;          /* the pool that it goes back to, or NULL */
    atomic_int runner;              /* the thread that runs it, or 0 (jit/interrupt.h) */
    bool fences;                    /* a run needs a memory barrier of its own */
    _Atomic uint64_t kicks;         /* how many interrupts are looking for that thread */
    struct pvm_twin *twin;          /* the machine it is compared with, or NULL (jit/lockstep.c) */
};

static inline struct pvm_vm *pvm_vm(penta_vm *vm) { return (struct pvm_vm *)vm; }
static inline const struct pvm_vm *pvm_vm_const(const penta_vm *vm)
{
    return (const struct pvm_vm *)vm;
}

struct pvm_config {
    const struct pvm_profile *profile;
    enum pvm_gas_model model;
    bool metered, paging;
    uint32_t page;         /* the bytes of a guest page; 0: 4096 */
    bool async;            /* compiled code counts gas and does not stop for it */
    bool perf_map;         /* the names of compiled functions go to a file for perf */
    const char *perf_dump; /* a folder for their code and source lines, or NULL */
    bool poll;             /* compiled code looks at the interrupt flag where it may loop */
    int64_t gas;
    uint64_t aux_size;
    struct long_work
        /* The work of making the machine; the interpreter runs it when this is over; NULL:
         * without end. */
        *work;
    /* The last step of making a machine: another engine takes it over. NULL: the interpreter
     * runs the machine. */
    void (*adopt)(struct pvm_vm *vm, const struct pvm_config *config);
};

/* vm.c */
struct pvm_vm *pvm_vm_create(const penta_module *module, const struct pvm_code *code,
                             const struct pvm_config *config, struct pvm_cells *shared,
                             penta_error *err);
void pvm_vm_destroy(struct pvm_vm *vm);
/* Makes the cells for the interpreter; false: memory ran out. */
bool pvm_vm_thread(struct pvm_vm *vm);
/* Places the data, the stack and the aux area of the module. */
bool pvm_vm_populate(struct pvm_vm *vm, const struct pvm_program *program, penta_bytes aux,
                     penta_error *err);
/* Resets everything to what it was after opening, without calls. */
void pvm_vm_reset(struct pvm_vm *vm);
void pvm_vm_jump(struct pvm_vm *vm, uint32_t pc); /* the next run starts at pc */
void pvm_vm_begin(struct pvm_vm *vm, const struct pvm_call *call);
/* Resets memory to what it was after opening. */
void pvm_vm_clear(struct pvm_vm *vm);
/* Gives the registers for calling an export: all are zero except ra and sp. */
void pvm_vm_call_registers(const struct pvm_vm *vm, uint64_t *regs);
/* Begins the next call, if there is one and the host need not be told of it. */
bool pvm_vm_continue(struct pvm_vm *vm);
/* Tells whether the host must be told of the begin or end of a call. Then *stop is the stop for
 * that. */
bool pvm_vm_tells(struct pvm_vm *vm, penta_stop *stop);
/* Call it after a run that ended a call. It turns *stop into the stop that tells the host. */
void pvm_vm_announce(struct pvm_vm *vm, penta_stop *stop);
bool pvm_vm_set_reg(struct pvm_vm *vm, unsigned reg, uint64_t value);
/* Grows the heap. Returns its new top (with profile gp_sbrk the start of the new memory), or 0
 * when it cannot grow. */
uint64_t pvm_vm_sbrk(struct pvm_vm *vm, uint64_t n);
bool pvm_vm_mark(penta_vm *vm, uint64_t pc, bool on);
/* These members of struct engine (core/engine.h) are the same for all engines of the format. */
bool pvm_vm_answer(penta_vm *vm, const uint64_t *results, size_t count, penta_error *err);
void pvm_vm_describe(const penta_vm *vm, const penta_visitor *visitor);
void pvm_vm_settle(penta_vm *vm, uint64_t gas, enum call_end end);
/* Passes an interrupt on to the machine that the host runs for this one. */
void pvm_vm_interrupt(penta_vm *vm);
bool pvm_vm_peek(const penta_vm *vm, uint64_t address, void *into, size_t size);
bool pvm_vm_poke(penta_vm *vm, uint64_t address, const void *from, size_t size);
void pvm_vm_close(penta_vm *vm);
const char *pvm_vm_detail(const penta_vm *vm, const penta_stop *stop);
/* The members that all engines of the format have. Three of them are the engine's own functions,
 * whose names begin with `own`. */
#define PVM_ENGINE_CALLS(own)                                                                      \
    .describe = own##_describe, .close = own##_close, .detail = own##_detail,                      \
    .answer = pvm_vm_answer, .settle = pvm_vm_settle, .peek = pvm_vm_peek, .poke = pvm_vm_poke,    \
    .mark = pvm_vm_mark, .walk = pvm_vm_walk

penta_vm *pvm_vm_open(const penta_module *module, const penta_option *options, size_t count,
                      penta_error *err);
/* run_options.c */
typedef void pvm_adopt_fn(struct pvm_vm *vm, const struct pvm_config *config);
penta_vm *pvm_vm_open_with(const penta_module *module, const penta_option *options, size_t count,
                           pvm_adopt_fn *adopt, struct long_work *work, penta_error *err);
/* Tells whether the option starts a call: the options after it are about that call. */
bool pvm_starts_call(const penta_option *option);
/* Returns the default profile of a dialect. */
const struct pvm_profile *pvm_default_profile(const struct pvm_program *program);
bool pvm_config_read(struct pvm_config *config, const struct pvm_program *program,
                     const penta_option *options, size_t count, penta_error *err);

/* Returns the cell of the instruction at pc, or 0 when none starts there. */
uint32_t pvm_vm_cell(struct pvm_vm *vm);

/* step.c: runs one instruction of a block that is paid. The registers are as the interpreter
 * keeps them. */
enum pvm_outcome {
    PVM_STEPPED, /* pc moved on inside of the block */
    PVM_ENTERED, /* pc is now at the start of a block that is not paid */
    PVM_STEP_TRAP,
    PVM_STEP_HALT,
    PVM_STEP_HOST,
    PVM_STEP_FAULT,
    PVM_STEP_GAS,   /* memset ran out of gas between two bytes */
    PVM_STEP_PAUSE, /* memset was interrupted */
};
enum pvm_outcome pvm_step(struct pvm_vm *vm);

/* debug.c: goes from a function that starts at `start` to the function that called it. Returns
 * false when none is known. Only the innermost function may still have its return address in ra. */
struct pvm_frame {
    uint64_t pc, sp, ra;
};
bool pvm_vm_unwind(const struct pvm_vm *vm, uint32_t start, bool innermost, struct pvm_frame *f);

/* interp.c */
bool pvm_vm_count(penta_vm *vm, struct counts *counts, penta_error *err);
void pvm_vm_run(penta_vm *vm, uint64_t fuel, penta_stop *stop);
/* Fills in the members that follow from vm->wait. */
void pvm_vm_report(struct pvm_vm *vm, penta_stop *stop);
/* Runs one instruction of a block that is paid, by the step engine. Returns true when the run is
 * over; then *stop and vm->wait say why. */
bool pvm_vm_step(struct pvm_vm *vm, uint64_t *steps, penta_stop *stop);
/* Gives back, when by_step, the gas that was paid for the rest of the block, except for `done`
 * (0 or 1) instructions. */
void pvm_vm_refund(struct pvm_vm *vm, uint32_t rest, uint32_t done);
/* Converts the registers of a 32-bit ISA: to sign-extended ones, as the interpreter keeps them,
 * or to zero-extended ones. */
void pvm_vm_convert(struct pvm_vm *vm, bool extend);
extern const struct engine pvm_interp;

/* driver.c: returns the name of an engine, and gives the function that makes it adopt a machine.
 * NULL: there is no such engine. */
const char *pvm_engine_find(const char *name, pvm_adopt_fn **adopt);
extern const struct host pvm_host;
