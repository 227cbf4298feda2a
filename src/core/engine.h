/* Declares what every engine does, so that one debugger serves the machines of all formats.
 *
 * A step is run(1). Fuel is the host's budget in instructions; gas is state of the guest with its own rules. A mark
 * stops the machine before the marked instruction, with STOP_BREAK. A run passes over a mark only when the run before
 * it stopped at that mark with STOP_BREAK; arriving there by fuel or by an answer does not count. An engine never
 * calls the host: it stops with a question, the host answers, and the engine resumes. A machine that has stopped for
 * good (HALT, TRAP) gives the same stop again, with 0 steps, when it is run again.
 *
 * An interrupt takes effect within 10 ms of processor time: long instructions count their work
 * (core/poll.h) and stop in the middle. They have then done nothing, or the machine knows how much
 * they have done. */
#pragma once
#include <stdatomic.h>
#include "base/long_work.h"
#include "base/options.h"
#include "base/writer.h"
#include "core/guard.h"
#include "core/poll.h"
struct code_map; /* defined in core/structure/code_map.h */
struct counts;   /* defined in core/structure/counts.h */
struct walk;     /* defined in core/snapshot.h */

/* The place of the host's thread that runs a machine: its instruction, and its registers in the
 * order of x64.h. */
struct native_state {
    uint64_t pc, regs[16];
};

/* The effect of a host's answer on the call that asked. */
enum call_end {
    CALL_GOES_ON,
    CALL_ENDS,   /* The call returns. */
    CALL_TRAPS,  /* The host refuses the call, and the program traps. */
    CALL_UNPAID, /* The program has less gas than the call costs, and ends without gas. */
};

/* Returns the name of a trap number in a table that ends with a NULL name, or NULL when it has
 * none. */
static inline const char *trap_name(const penta_trap *traps, uint32_t number)
{
    while (traps && traps->name && traps->number != number) traps++;
    return traps ? traps->name : NULL;
}
/* TRAP_ROW makes a row of a traps.def: #define TRAP(...) TRAP_ROW(__VA_ARGS__) */
#define TRAP_ROW(number, id, name, meaning) {number, name, meaning},

struct engine {
    const char *name; /* the name of the engine, such as "interp" or "jit" */
    penta_vm *(*open)(const penta_module *module, const penta_option *options, size_t count,
                      penta_error *err);
    /* Opens a machine like `open`, and ends compiling soon after *stop is set; the machine may
     * then have compiled only a part of the code. The entry is NULL when `open` is fast. */
    penta_vm *(*open_until)(const penta_module *module, const penta_option *options, size_t count,
                            const volatile int *stop, penta_error *err);
    void (*run)(penta_vm *vm, uint64_t fuel, penta_stop *stop);
    bool (*answer)(penta_vm *vm, const uint64_t *results, size_t count, penta_error *err);
    /* Charges the gas that the host call costs, and tells how the call ends. It is called before
     * `answer`. The entry is NULL when the machine has no gas and calls just return. */
    void (*settle)(penta_vm *vm, uint64_t gas, enum call_end end);
    /* Reports registers, counters, and then a list `memory` of the runs that changed since the start. */
    void (*describe)(const penta_vm *vm, const penta_visitor *visitor);
    bool (*peek)(const penta_vm *vm, uint64_t address, void *into, size_t size);
    bool (*poke)(penta_vm *vm, uint64_t address, const void *from, size_t size);
    bool (*mark)(penta_vm *vm, uint64_t pc, bool on); /* Sets or removes a breakpoint. */
    bool heeds_guards; /* `run` watches the guards of the machine (core/guard.h). */
    /* Is called from any thread or signal handler after the flag `interrupt` was set. The entry
     * is NULL when `run` checks the flag itself. */
    void (*interrupt)(penta_vm *vm);
    void (*walk)(penta_vm *vm, struct walk *w); /* Walks over the state of the machine, for
                                                 * snapshots. */
    /* Counts what the machine executes from now on, until it is closed. Marks are not set while
     * it counts. Returns NULL when the engine cannot count. */
    bool (*count)(penta_vm *vm, struct counts *counts, penta_error *err);
    /* Finds the guest instructions that are being executed when the thread is at a place of
     * compiled code: the one of the innermost function first, then any instruction of each
     * caller, at most max. Returns how many, or 0 when it does not know. It is called in signal
     * handlers, so it takes no memory and no locks. The entry is NULL when the engine does not
     * compile. */
    size_t (*sample)(const penta_vm *vm, const struct native_state *at, const struct code_map *map,
                     uint64_t *pcs, size_t max);
    void (*close)(penta_vm *vm);
    /* Returns the name of the host call at which the machine stopped, or NULL. The entry may be
     * NULL. */
    const char *(*detail)(const penta_vm *vm, const penta_stop *stop);
};

/* ENGINE_CALLS has the entries of an engine whose functions have the same prefix. */
#define ENGINE_CALLS(own)                                                                          \
    .answer = own##_answer, .peek = own##_peek, .poke = own##_poke, .mark = own##_mark,            \
    .close = own##_close, .detail = own##_detail

/* The struct of every machine begins with this one. */
struct penta_vm {
    const struct engine *engine;
    const penta_module *module;
    atomic_bool interrupt;
    struct poll poll; /* counts the work of long instructions */
    bool hashed;      /* The member `hash` has been computed. */
    uint64_t hash;    /* the hash of the module's file for snapshots; 0 without a module */
    struct guards guards;
    struct counts *counts; /* the counters of a profiler, or NULL */
    bool big_endian;       /* Values in the memory of the machine are big-endian. */
    /* Reports warnings about what only a run shows and no check of the program can find. The
     * entry may be NULL. */
    void (*findings)(const penta_vm *vm, struct findings *findings);
};

/* Counts work that the machine is about to do. When it returns true, the instruction stops (core/poll.h). */
static inline bool vm_work(penta_vm *vm, uint64_t units)
{
    return poll_work(&vm->poll, &vm->interrupt, units);
}
static inline bool vm_work_over(void *vm, uint64_t units) { return vm_work(vm, units); }
/* Does what vm_work does, for layers that do not know machines. */
static inline struct long_work vm_long_work(penta_vm *vm)
{
    return (struct long_work){.over = vm_work_over, .user = vm};
}
