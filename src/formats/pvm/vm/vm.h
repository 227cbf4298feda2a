/* A machine has registers, pc, gas and memory, the event for which it waits, and the calls that
 * it has still to make. */
#pragma once
#include "pvm/vm/cells.h"
#include "pvm/format/layout.h"
#include "pvm/vm/memory/memory.h"
#include "pvm/pvm.h"

/* clang-format off */
enum {
    PVM_RA, PVM_SP, PVM_T0, PVM_T1, PVM_T2, PVM_S0, PVM_S1, PVM_A0, PVM_A1, PVM_A2, PVM_A3, PVM_A4,
    PVM_A5,
    PVM_ARGUMENTS = 9,       /* the number of registers for arguments: a0 .. a5 and t0 .. t2 */
    PVM_HOST_NAME = 64,      /* Names of host calls are shown when they are shorter than this. */
};
/* clang-format on */
#define PVM_RETURN_ADDRESS UINT32_C(0xffff0000) /* A jump to this address ends the call. */

/* A struct pvm_state is the part of a machine that the engines share, in the page below guest
 * address 0 (memory.h). The registers of a 32-bit ISA are zero-extended while no engine runs. */
struct pvm_state {
    uint64_t regs[16];
    int64_t gas; /* the gas that is left, which is at least 0 */
    uint32_t pc;
    /* The members from here on belong to the interpreter (handlers.h). */
    /* `exit` is a number of enum pvm_exit that says why the handlers returned, or 0 while they
     * run. */
    uint32_t exit;
    const struct pvm_cell *cell, *loop;
    int64_t left;
    uint64_t acc;
    const struct pvm_cell *cells;
    const uint32_t *table;
    uint32_t table_count;
    struct pvm_memory *memory;
    bool wraps;
    /* counts is set while a profiler counts. plain_distance is then the distance in bytes from a
     * counting cell to the shared one. */
    struct counts *counts;
    intptr_t plain_distance;
    /* loop_count counts the block that runs now, if it loops. loop_left is the budget when that
     * block was entered. */
    uint64_t *loop_count;
    /* loop_calls is a count of calls from which repeats of the block are subtracted, because
     * they are no calls; or NULL. */
    uint64_t *loop_calls;
    int64_t loop_left;
    uint32_t loop_charge;
    /* The members from here on belong to compiled code (jit.h). */
    uint32_t host_number;
    uint64_t native_at; /* the native address where compiled code stopped */
    const atomic_bool *interrupt;
};

enum pvm_exit {
    PVM_EXIT_NONE,
    PVM_EXIT_CHARGE, /* The budget is too small for the block at `cell`. */
    PVM_EXIT_TRAP,
    PVM_EXIT_HALT,
    PVM_EXIT_HOST,
    PVM_EXIT_FAULT,
    PVM_EXIT_STEP, /* The step engine has to do the instruction at `cell`. */
    PVM_EXIT_BREAK,
};

/* An enum pvm_wait says what has to happen before the machine can go on. */
enum pvm_wait {
    PVM_READY,
    PVM_WAIT_ANSWER, /* A host call waits for its answer. */
    PVM_HALTED,
    PVM_TRAPPED, /* The machine has trapped, which is final until a new call. */
    PVM_UNPAID,  /* There was too little gas for a host call, which is final, too. */
};

/* An enum pvm_trap is the value of penta_stop.detail for a trap. */
enum pvm_trap {
#define TRAP(number, id, ...) PVM_TRAP_##id = number,
#include "pvm/traps.def"
    PVM_TRAPS
};

/* A host such as revive is asked before each call and told after it. The machine stops for that
 * as it does for host calls, with the numbers PVM_CALL_BEGINS and PVM_CALL_ENDED. */
enum pvm_announce {
    PVM_UNTOLD,     /* The host is not told, and calls follow each other. */
    PVM_TELL_BEGIN, /* The next run stops with PVM_CALL_BEGINS. */
    PVM_TOLD_BEGIN, /* The host was asked, and the call runs. */
    PVM_TELL_END,   /* The next run stops with PVM_CALL_ENDED. */
    PVM_TOLD_END,
};
#define PVM_CALL_BEGINS UINT32_C(0xfffffffe)
/* The arguments of the stop PVM_CALL_ENDED are the kind of the run's stop, its detail, and its
 * args[0]. */
#define PVM_CALL_ENDED UINT32_C(0xffffffff)

struct pvm_call {
    uint32_t pc;
    uint64_t regs[PVM_REGISTERS];
};

struct pvm_vm {
    penta_vm base;
    struct pvm_memory memory;
    struct pvm_state *state; /* The pointer is equal to memory.state. */
    struct pvm_cells *cells;
    struct pvm_cell *own; /* the machine's own copy of the cells, with breakpoints, or NULL */
    uint8_t *marked;      /* for each cell: whether it has a breakpoint; or NULL */
    bool at_break;        /* The last run stopped at a breakpoint. */
    uint32_t break_pc;    /* the pc of the breakpoint at which the last run stopped */
    /* for each block: the place from counts_places. When this is set, `own` has counting
     * handlers. */
    uint32_t *places;
    uint32_t hint; /* the cell that is probably that of the instruction at pc */
    bool metered, paging, w32;
    bool by_step; /* The gas model is step: gas is exact while no engine runs. */
    /* The block around pc is charged. With by_step, the part that is charged while the machine
     * runs is the rest of the block from pc on. */
    bool paid;
    enum pvm_wait wait;
    enum pvm_trap trap;
    /* `executed` says how many instructions ran, or UINT64_MAX after compiled code, which does
     * not count them. */
    uint64_t executed;
    uint64_t host_calls;
    uint32_t host_number; /* the number of the host call that waits for its answer */
    char *host_name;      /* a buffer for the name of a host call */
    int64_t gas_start;
    uint64_t gas_refilled; /* the sum of what penta_pvm_gas_set has added, modulo 2^64 */
    struct pvm_layout layout;
    uint64_t heap_size;
    struct pvm_call *calls; /* the calls; those from next_call on have still to be made */
    size_t call_count, next_call;
    bool remapped;           /* The host changed the memory map, so pvm_vm_clear makes it anew. */
    bool fresh_calls;        /* Each call starts with the initial memory. */
    enum call_end on_answer; /* says whether the call goes on after the next answer of the host */
    uint64_t answer_gas;     /* the gas that the next answer of the host costs */
    enum pvm_announce announce;
    _Atomic(struct pvm_vm *) inner; /* the machine that the host runs for this one, or NULL */
    struct pvm_pool *pool;          /* the pool to which this machine goes back, or NULL */
    atomic_int runner;              /* the thread that runs this machine, or 0 (jit/interrupt.h) */
    bool fences;                    /* A run needs a memory barrier of its own. */
    /* `kicks` says how many interrupts are looking for the thread that runs this machine. */
    _Atomic uint64_t kicks;
    /* `twin` is the machine with which this one is compared, or NULL (jit/lockstep.c). */
    struct pvm_twin *twin;
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
    uint32_t page; /* the size of a guest page in bytes; 0 stands for 4096 */
    bool async;    /* Compiled code counts gas and does not stop for it. */
    bool perf_map; /* The names of compiled functions go to a file for perf. */
    /* `perf_dump` is the folder for the code and the source lines of compiled functions, or
     * NULL. */
    const char *perf_dump;
    bool poll; /* Compiled code looks at the interrupt flag where it may loop. */
    int64_t gas;
    uint64_t aux_size;
    struct long_work
        /* Making the machine is long work that may be ended; the interpreter runs the machine
         * then. NULL: nothing ends it. */
        *work;
    /* Is called as the last step of making a machine, so that another engine takes the machine
     * over. NULL: the interpreter runs it. */
    void (*adopt)(struct pvm_vm *vm, const struct pvm_config *config);
};

/* The functions below are in vm.c. */
struct pvm_vm *pvm_vm_create(const penta_module *module, const struct pvm_code *code,
                             const struct pvm_config *config, struct pvm_cells *shared,
                             penta_error *err);
void pvm_vm_destroy(struct pvm_vm *vm);
/* Makes the cells for the interpreter. Returns false when memory ran out. */
bool pvm_vm_thread(struct pvm_vm *vm);
/* Puts the data, the stack and the auxiliary data of the module into memory. */
bool pvm_vm_populate(struct pvm_vm *vm, const struct pvm_program *program, penta_bytes aux,
                     penta_error *err);
/* Resets everything to the state after opening, without calls. */
void pvm_vm_reset(struct pvm_vm *vm);
void pvm_vm_jump(struct pvm_vm *vm, uint32_t pc); /* Makes the next run start at pc. */
void pvm_vm_begin(struct pvm_vm *vm, const struct pvm_call *call);
/* Resets memory to its state after opening. */
void pvm_vm_clear(struct pvm_vm *vm);
/* Gives the registers for calling an export: all are zero except ra and sp. */
void pvm_vm_call_registers(const struct pvm_vm *vm, uint64_t *regs);
/* Begins the next call, if there is one and the host need not be told of it. */
bool pvm_vm_continue(struct pvm_vm *vm);
/* Tells whether the host must be told that a call begins or has ended, and sets *stop to the
 * stop for that. */
bool pvm_vm_tells(struct pvm_vm *vm, penta_stop *stop);
/* Turns *stop into the stop that tells the host. It is called after a run that ended a call. */
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
/* PVM_ENGINE_CALLS has the members that all engines of the format have. Three of them are the
 * engine's own functions, whose names begin with `own`. */
#define PVM_ENGINE_CALLS(own)                                                                      \
    .describe = own##_describe, .close = own##_close, .detail = own##_detail,                      \
    .answer = pvm_vm_answer, .settle = pvm_vm_settle, .peek = pvm_vm_peek, .poke = pvm_vm_poke,    \
    .mark = pvm_vm_mark, .walk = pvm_vm_walk

penta_vm *pvm_vm_open(const penta_module *module, const penta_option *options, size_t count,
                      penta_error *err);
/* The functions below are in run_options.c. */
typedef void pvm_adopt_fn(struct pvm_vm *vm, const struct pvm_config *config);
penta_vm *pvm_vm_open_with(const penta_module *module, const penta_option *options, size_t count,
                           pvm_adopt_fn *adopt, struct long_work *work, penta_error *err);
/* Tells whether the option starts a call; the options after it are about that call. */
bool pvm_starts_call(const penta_option *option);
/* Returns the default profile of a dialect. */
const struct pvm_profile *pvm_default_profile(const struct pvm_program *program);
bool pvm_config_read(struct pvm_config *config, const struct pvm_program *program,
                     const penta_option *options, size_t count, penta_error *err);

/* Returns the cell of the instruction at pc, or 0 when none starts there. */
uint32_t pvm_vm_cell(struct pvm_vm *vm);

/* An enum pvm_outcome is the result of pvm_step, which runs one instruction of a block that is
 * paid (step.c). The registers are as the interpreter keeps them. */
enum pvm_outcome {
    PVM_STEPPED, /* The pc has moved on inside of the block. */
    PVM_ENTERED, /* The pc is now at the start of a block that is not paid. */
    PVM_STEP_TRAP,
    PVM_STEP_HALT,
    PVM_STEP_HOST,
    PVM_STEP_FAULT,
    PVM_STEP_GAS,   /* The instruction memset ran out of gas between two bytes. */
    PVM_STEP_PAUSE, /* The instruction memset was interrupted. */
};
enum pvm_outcome pvm_step(struct pvm_vm *vm);

/* pvm_vm_unwind goes from a function that starts at `start` to the function that called it
 * (debug.c). It returns false when none is known. Only the innermost function may still have its
 * return address in ra. */
struct pvm_frame {
    uint64_t pc, sp, ra;
};
bool pvm_vm_unwind(const struct pvm_vm *vm, uint32_t start, bool innermost, struct pvm_frame *f);

/* The functions below are in interp.c. */
bool pvm_vm_count(penta_vm *vm, struct counts *counts, penta_error *err);
void pvm_vm_run(penta_vm *vm, uint64_t fuel, penta_stop *stop);
/* Sets the members of *stop that follow from vm->wait. */
void pvm_vm_report(struct pvm_vm *vm, penta_stop *stop);
/* Runs one instruction of a block that is paid, by the step engine. Returns true when the run is
 * over; then *stop and vm->wait say why. */
bool pvm_vm_step(struct pvm_vm *vm, uint64_t *steps, penta_stop *stop);
/* Gives back, in the gas model step, what was paid for the rest of the block, except for `done`
 * (0 or 1) instructions. */
void pvm_vm_refund(struct pvm_vm *vm, uint32_t rest, uint32_t done);
/* Converts the registers of a 32-bit ISA to sign-extended ones, as the interpreter keeps them,
 * or to zero-extended ones. */
void pvm_vm_convert(struct pvm_vm *vm, bool extend);
extern const struct engine pvm_interp;

/* Returns the name of an engine, and gives the function that makes this engine adopt a machine.
 * Returns NULL when there is no such engine (driver.c). */
const char *pvm_engine_find(const char *name, pvm_adopt_fn **adopt);
extern const struct host pvm_host;
