/* What an engine does, so that one debugger serves the machines of all formats.
 *
 * A step is run(1). Fuel is the host's budget in instructions; gas is guest state with its own
 * rules. A mark stops before its instruction, with STOP_BREAK. A run passes over a mark only if the
 * run before stopped at it with STOP_BREAK; arriving there by fuel or by an answer does not count.
 * An engine never calls the host: it stops and asks, the host answers, it resumes. A final stop
 * (HALT, TRAP) is given again, with 0 steps, when the machine is run again.
 *
 * An interrupt takes effect within 10 ms of processor time: long instructions count their work
 * (core/poll.h) and stop in the middle, with nothing done or with what they did noted. */
#pragma once
#include <stdatomic.h>
#include "base/options.h"
#include "base/writer.h"
#include "core/guard.h"
#include "core/poll.h"
struct code_map; /* core/structure/code_map.h */
struct counts;   /* core/structure/counts.h */
struct walk;     /* core/snapshot.h */

/* Where the thread that runs a machine is: its instruction, and its registers in the order of x64.h. */
struct native_state {
    uint64_t pc, regs[16];
};

/* What an answer of the host means for the call that asked. */
enum call_end {
    CALL_GOES_ON,
    CALL_ENDS,   /* as if it had returned */
    CALL_TRAPS,  /* the host refuses */
    CALL_UNPAID, /* the program has less gas than the call costs: it ends without gas */
};

/* The name of a number in a table that ends with a NULL name; NULL: it has none. */
static inline const char *trap_name(const penta_trap *traps, uint32_t number)
{
    while (traps && traps->name && traps->number != number) traps++;
    return traps ? traps->name : NULL;
}
/* A row of a traps.def: #define TRAP(...) TRAP_ROW(__VA_ARGS__) */
#define TRAP_ROW(number, id, name, meaning) {number, name, meaning},

struct engine {
    const char *name; /* "interp", "jit" */
    penta_vm *(*open)(const penta_module *module, const penta_option *options, size_t count,
                      penta_error *err);
    /* Of an engine that compiles, and ends that soon when *stop is set: the machine may then be one that does not
     * run it all. NULL: open is fast. */
    penta_vm *(*open_until)(const penta_module *module, const penta_option *options, size_t count,
                            const volatile int *stop, penta_error *err);
    void (*run)(penta_vm *vm, uint64_t fuel, penta_stop *stop);
    bool (*answer)(penta_vm *vm, const uint64_t *results, size_t count, penta_error *err);
    /* Before answer: gas that the host call costs, and whether it ends the call. NULL: neither. */
    void (*settle)(penta_vm *vm, uint64_t gas, enum call_end end);
    /* Registers, counters, then a list `memory` of the runs that changed since the start. */
    void (*describe)(const penta_vm *vm, const penta_visitor *visitor);
    bool (*peek)(const penta_vm *vm, uint64_t address, void *into, size_t size);
    bool (*poke)(penta_vm *vm, uint64_t address, const void *from, size_t size);
    bool (*mark)(penta_vm *vm, uint64_t pc, bool on); /* a breakpoint */
    bool heeds_guards;                                /* run looks at the guards of the machine */
    /* Called from any thread or signal handler after the flag `interrupt` was set. NULL: run checks
     * the flag itself. */
    void (*interrupt)(penta_vm *vm);
    void (*walk)(penta_vm *vm, struct walk *w); /* over its state, for snapshots */
    /* Counts what it executes from now on, until the machine is closed; marks are not set then. NULL:
     * the engine cannot. */
    bool (*count)(penta_vm *vm, struct counts *counts, penta_error *err);
    /* Of compiled code: the instructions that are under way when the thread is there, of the innermost
     * function first, at most max; returns how many, 0: not known. For callers any instruction of the
     * function does. Called in signal handlers, so it takes no memory and no locks. NULL: the engine
     * does not compile. */
    size_t (*sample)(const penta_vm *vm, const struct native_state *at, const struct code_map *map,
                     uint64_t *pcs, size_t max);
    void (*close)(penta_vm *vm);
    /* The name of the stop's host call, or NULL. The entry may be NULL. */
    const char *(*detail)(const penta_vm *vm, const penta_stop *stop);
};

/* The functions of an engine whose names begin alike. */
#define ENGINE_CALLS(own)                                                                          \
    .answer = own##_answer, .peek = own##_peek, .poke = own##_poke, .mark = own##_mark,            \
    .close = own##_close, .detail = own##_detail

/* A machine's own struct begins with this. */
struct penta_vm {
    const struct engine *engine;
    const penta_module *module;
    atomic_bool interrupt;
    struct poll poll; /* of the work of long instructions */
    bool hashed;      /* the hash of the module's file is known: */
    uint64_t hash;    /* for snapshots; without a module 0 */
    struct guards guards;
    struct counts *counts; /* of a profiler, or NULL */
    bool big_endian;       /* values in its memory */
    /* What the run showed that no check of the program can: warnings. NULL: nothing. */
    void (*findings)(const penta_vm *vm, struct findings *findings);
};

/* Counts work of the machine that is about to be done; true: the instruction stops (core/poll.h). */
static inline bool vm_work(penta_vm *vm, uint64_t units)
{
    return poll_work(&vm->poll, &vm->interrupt, units);
}
