/* Offers embedders what they need for PolkaVM and JAM programs beyond penta.h, whose rules about
 * errors, buffers, NULL and options hold.
 *
 * All functions take modules and machines of format "pvm" only. A machine belongs to one thread
 * at a time; pools may be shared. A call is prepared with penta_pvm_call, run with penta_vm_run,
 * and over when that stops with PENTA_STOP_HALT; host calls stop with PENTA_STOP_HOST and their
 * number in detail.
 *
 * The engine "jit" runs compiled code in the calling thread. penta_vm_interrupt makes the run
 * stop within a millisecond, scheduling aside, between two guest instructions; it can go on from
 * there. Programs that are not metered stop, too: a signal lets their thread finish the
 * instruction it is in. Without fuel compiled code does not count steps: they are UINT64_MAX.
 *
 * Interrupts. An interrupt outside of a run is kept: the next run stops at once, before anything
 * else, and the run after that goes on. It sends no signal; neither does an interrupt of a
 * machine with option poll. The signal of an interrupt arrives before the run that it stops
 * returns, never in system calls of the host. penta_pvm_reset, and giving a machine back to its
 * pool, drop an interrupt that is kept.
 *
 * Signals. The first machine of engine "jit" or "both" installs handlers for SIGSEGV, SIGBUS and
 * SIGTRAP, once a process, with SA_ONSTACK and SA_RESTART. They take faults that the processor
 * reports in compiled code, and the SIGTRAP of interrupts. Everything else goes to the handler
 * that was there before, as if it were still installed, with its sa_mask, SA_NODEFER and
 * SA_RESETHAND. So does a signal that was sent, by kill or otherwise, while compiled code runs.
 * Where the default action was installed the process ends by the signal; SIG_IGN ignores what
 * was sent. Three things are different for that handler: system calls are restarted after it, it
 * runs on the alternate stack, and sigaction shows the handler of penta.
 *   - A handler installed later must pass on what is not its own, in the same way.
 *   - A handler must not leave a run by longjmp or by ending the thread.
 *   - Threads that run machines must not block SIGTRAP, or interrupts wait for gas or a host call;
 *     option poll needs no signal.
 * A thread that runs compiled code and has no alternate stack gets one of 64 KiB, which is taken
 * away at its end. One that it has is used, and must stay valid while the thread runs machines. */
#pragma once
#include "penta/link.h"

#ifdef __cplusplus
extern "C" {
#endif

/* clang-format off */
enum { /* These are the numbers of the registers. */
    PENTA_PVM_RA, PENTA_PVM_SP, PENTA_PVM_T0, PENTA_PVM_T1, PENTA_PVM_T2, PENTA_PVM_S0,
    PENTA_PVM_S1, PENTA_PVM_A0, PENTA_PVM_A1, PENTA_PVM_A2, PENTA_PVM_A3, PENTA_PVM_A4, PENTA_PVM_A5,
};
/* clang-format on */

/* The functions below are about modules. */

/* Gives the code offset of an export. Returns false when there is none of this name. */
PENTA_API bool penta_pvm_export(const penta_module *module, const char *name, uint32_t *pc);
/* Gives the name of the host call with this number. Returns false when the module imports
 * nothing under it. */
PENTA_API bool penta_pvm_import(const penta_module *module, uint32_t number, penta_bytes *name);

/* Tells whether the program is a standard program of JAM and the address is in its arguments.
 * They are mapped only when there are some (option spi-args). */
PENTA_API bool penta_pvm_in_arguments(const penta_module *module, uint64_t address);

/* The functions below link objects. */

/* Tells whether a file is for this linker, by its first bytes, or by those of an archive's first
 * member. The answer is also yes for an archive that cannot be read: linking it says why. */
PENTA_API bool penta_pvm_links(penta_bytes file);
/* Links objects to one program, which is appended to `out`. A list of sections and functions is
 * appended to `map`, which may be NULL. Objects are taken in the order given. The options are
 * isa, to ("polkavm" or "jam"), dispatch, metadata, strip, stack and optimize ("0", "1", "2").
 * Every finding goes to `report`, which may be NULL. Returns false when one was an error; `out`
 * and `map` are unchanged then. */
PENTA_API bool penta_pvm_link(const penta_object *objects, size_t count,
                              const penta_option *options, size_t option_count, penta_buffer *out,
                              penta_buffer *map, penta_link_report *report, void *user);

/* The declarations below are for looking at compiled code. */

/* A penta_pvm_compiled is the machine code of a program, as the engine "jit" makes it. */
typedef struct penta_pvm_compiled penta_pvm_compiled;

typedef struct penta_pvm_compilation {
    uint32_t instructions, code_bytes; /* how many instructions and bytes of code the program has */
    uint32_t native_bytes;
    uint64_t nanoseconds; /* how long the compiler took */
} penta_pvm_compilation;

/* Compiles a program. Options and `stop` are as for penta_vm_new; `stop` and `result` may be
 * NULL. Returns NULL with an error when the module is damaged, an option is wrong, there is no
 * compiler for this host, or memory ran out. */
PENTA_API penta_pvm_compiled *penta_pvm_compile(const penta_module *module,
                                                const penta_option *options, size_t count,
                                                const volatile int *stop,
                                                penta_pvm_compilation *result, penta_error *err);
PENTA_API void penta_pvm_compiled_free(penta_pvm_compiled *compiled); /* `compiled` may be NULL. */

typedef struct penta_pvm_instruction {
    /* penta_print_at gives the text of the instruction at this pc, and none for a place that
     * traps. */
    uint32_t pc;
    /* A block starts here. Its machine code begins with the charge for gas, where the code has
     * one. */
    bool starts_block;
    /* `offset` says where the machine code of the instruction is in all of the machine code. */
    uint32_t offset;
    /* `native` is the machine code, valid as long as the compiled program. When it has no data,
     * the code of the instruction is part of that of the one before. */
    penta_bytes native;
} penta_pvm_instruction;

/* Gives the instruction at this pc, or the next one after it. Returns false when there is none. */
PENTA_API bool penta_pvm_compiled_at(const penta_pvm_compiled *compiled, uint32_t pc,
                                     penta_pvm_instruction *out);

typedef struct penta_pvm_difference { /* A difference is valid until the machine runs again. */
    const char *what;                 /* what differs, such as "a0: jit 0x2, interp 0x1" */
    /* `from` and `to` are the pcs at which the block starts and ends after which the difference
     * was seen. */
    uint32_t from, to;
    uint32_t entered; /* the pc at which both engines entered the block */
    const penta_module *module;
    const penta_pvm_compiled *compiled;
} penta_pvm_difference;

/* Gives the difference with which a machine of engine "both" stopped (PENTA_STOP_DISAGREE).
 * Returns false for any other machine. */
PENTA_API bool penta_pvm_difference_of(const penta_vm *vm, penta_pvm_difference *out);

/* The functions below are about pools. The machines of a pool share one prepared program. */

typedef struct penta_pvm_pool penta_pvm_pool;

/* Makes a pool. `engine` is "interp", "jit", or NULL for the fastest that this host has. A
 * program is compiled once, here; where it cannot be compiled, the interpreter runs it. Options
 * are those of penta_vm_new that concern every machine: gas, gas-model, gas-mode, poll, profile,
 * paging, page-size. The module must outlive the pool. */
PENTA_API penta_pvm_pool *penta_pvm_pool_new(const penta_module *module, const char *engine,
                                             const penta_option *options, size_t count,
                                             penta_error *err);
/* Returns a machine in its initial state. penta_vm_free gives it back to the pool and resets
 * only the pages that were touched. */
PENTA_API penta_vm *penta_pvm_pool_take(penta_pvm_pool *pool, penta_error *err);
/* Frees a pool, which may be NULL. Machines that are still in use stay valid until they are
 * freed. */
PENTA_API void penta_pvm_pool_free(penta_pvm_pool *pool);
/* Resets a machine to its state after penta_vm_new, memory and gas included. The calls that
 * options gave are dropped. */
PENTA_API void penta_pvm_reset(penta_vm *vm);

/* The functions below prepare and end calls. */

/* Prepares a call: sets all registers to zero, except sp, ra and up to nine arguments in a0 ..
 * a5 and t0 .. t2. */
PENTA_API bool penta_pvm_call(penta_vm *vm, uint32_t pc, const uint64_t *args, size_t count);
/* Makes the next run start at pc. Registers stay as they are. */
PENTA_API void penta_pvm_jump(penta_vm *vm, uint32_t pc);
/* Makes the next answer to a host call end the program's call (PENTA_STOP_HALT) instead of going
 * on with it. */
PENTA_API void penta_pvm_end_call(penta_vm *vm);

/* The functions below are about the state of a machine. */

PENTA_API uint64_t penta_pvm_register_get(const penta_vm *vm, unsigned reg);
PENTA_API bool penta_pvm_register_set(penta_vm *vm, unsigned reg, uint64_t value);
PENTA_API int64_t penta_pvm_gas_get(const penta_vm *vm);
/* Returns false when `gas` is negative, or the machine does not count gas. */
PENTA_API bool penta_pvm_gas_set(penta_vm *vm, int64_t gas);

/* These functions tell whether the program itself may read, or write, all of these bytes; of 0
 * bytes it always may. (penta_vm_peek and penta_vm_poke reach all mapped memory, whatever its
 * rights: they are for debuggers.) */
PENTA_API bool penta_pvm_readable(const penta_vm *vm, uint64_t address, uint64_t size);
PENTA_API bool penta_pvm_writable(const penta_vm *vm, uint64_t address, uint64_t size);
/* These functions copy out of, or into, memory that the program may read or write. When it may
 * not, they return false and copy nothing. */
PENTA_API bool penta_pvm_read(const penta_vm *vm, uint64_t address, void *into, size_t size);
PENTA_API bool penta_pvm_write(penta_vm *vm, uint64_t address, const void *from, size_t size);

/* These functions change the memory map. penta_pvm_map maps whole pages (of 4096 bytes, or as
 * option page-size says), which are zero; what was mapped there is lost. */
PENTA_API bool penta_pvm_map(penta_vm *vm, uint64_t address, uint64_t length, bool writable);
PENTA_API bool penta_pvm_unmap(penta_vm *vm, uint64_t address, uint64_t length);
PENTA_API bool penta_pvm_protect(penta_vm *vm, uint64_t address, uint64_t length, bool writable);
/* Does the same as the instruction sbrk. Returns the heap's new top, or 0 when the heap cannot
 * grow by n bytes. */
PENTA_API uint64_t penta_pvm_grow_heap(penta_vm *vm, uint32_t n);

#ifdef __cplusplus
}
#endif
