/* Interrupts compiled code (PVM 21.4, 21.5): knows which thread runs a machine, and sends it a
 * kick, a SIGTRAP that makes the thread leave compiled code.
 *
 * A run announces its thread, and only then looks at the interrupt flag. An interrupt sets the
 * flag, and only then looks for a thread. So one of the two always sees the other: a machine
 * that is not running gets no signal, and its next run sees the flag. The order of these two
 * steps needs a barrier on both sides. Interrupts are rare and runs are frequent, so the
 * interrupt makes the kernel run the barrier on all processors of this process (membarrier), and
 * a run only keeps the compiler from reordering. Where the kernel does not offer that, runs have
 * a barrier of their own.
 *
 * The end of a run waits for interrupts that are just sending their signal, so that none arrives
 * later, in a system call of the host or in another thread. */
#pragma once
#include <signal.h>
#include "pvm/vm/vm.h"

/* pvm_running is the machine that this thread is running, or NULL. */
extern _Thread_local struct pvm_vm *volatile pvm_running __attribute__((tls_model("initial-exec")));
extern _Thread_local int pvm_thread __attribute__((tls_model("initial-exec")));

bool pvm_interrupt_install(void);
bool pvm_interrupt_fences(void); /* Returns true when the kernel has no membarrier. */
int pvm_thread_find(void);

/* Returns the number that the kernel gives this thread. */
static inline int pvm_thread_number(void)
{
    int known = pvm_thread;
    return __builtin_expect(known != 0, 1) ? known : pvm_thread_find();
}

/* Makes the thread that runs this machine leave compiled code. No signal is sent when the code
 * tests the interrupt flag itself. */
void pvm_kick(penta_vm *vm);
/* Tells whether this SIGTRAP is a kick. */
bool pvm_is_kick(const siginfo_t *info);
/* Handles a kick that meets this thread outside of compiled code, perhaps in a signal handler of
 * the host. The kick comes again when that handler returns, or when the run ends. */
void pvm_kick_defer(void *context);

void pvm_kick_wait(struct pvm_vm *vm);

static inline void pvm_run_fence(const struct pvm_vm *vm)
{
    if (__builtin_expect(vm->fences, 0))
        atomic_thread_fence(memory_order_seq_cst);
    else
        atomic_signal_fence(memory_order_seq_cst);
}

static inline void pvm_run_begin(struct pvm_vm *vm)
{
    pvm_running = vm;
    atomic_store_explicit(&vm->runner, pvm_thread_number(), memory_order_relaxed);
    pvm_run_fence(vm);
}

static inline void pvm_run_end(struct pvm_vm *vm)
{
    pvm_running = NULL;
    atomic_store_explicit(&vm->runner, 0, memory_order_release);
    pvm_run_fence(vm);
    if (__builtin_expect((uint32_t)atomic_load_explicit(&vm->kicks, memory_order_acquire) != 0, 0))
        pvm_kick_wait(vm);
}
