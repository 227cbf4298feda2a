/* Sends kicks to the threads that run machines, and waits for kicks (interrupt.h). */
#include "pvm/jit/jit.h"
#include <errno.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

_Thread_local struct pvm_vm *volatile pvm_running __attribute__((tls_model("initial-exec")));
_Thread_local int pvm_thread __attribute__((tls_model("initial-exec")));

/* `deferred` is set while SIGTRAP is blocked until the run ends. The machine that runs then
 * counts this thread as a kick that is not done (pvm_kick_defer). */
static _Thread_local volatile bool deferred __attribute__((tls_model("initial-exec")));
static _Thread_local volatile bool settling __attribute__((tls_model("initial-exec")));
static bool fences;
static const char kick_mark; /* The signal of a kick carries the address of kick_mark. */

/* pvm_vm.kicks has two parts. The lower half counts the kicks that are looking for a thread or
 * sending their signal, and has SENT if a signal was sent in this run. The upper half is the
 * number of forks up to this process, because kicks that had begun in the parent never end in
 * the child. */
#define SENT (UINT64_C(1) << 31)
static uint64_t forks;

static bool kicks_of_this_process(uint64_t kicks) { return kicks >> 32 == forks >> 32; }
static bool interrupt_held(uint64_t kicks)
{
    return kicks_of_this_process(kicks) && (uint32_t)kicks & ~SENT;
}

int pvm_thread_find(void) { return pvm_thread = (int)syscall(SYS_gettid); }

static void interrupt_after_fork(void)
{
    pvm_thread = 0;
    forks += UINT64_C(1) << 32;
    /* `vm` is not NULL when a signal handler has forked during a run. */
    struct pvm_vm *vm = pvm_running;
    if (vm) atomic_store_explicit(&vm->runner, pvm_thread_number(), memory_order_relaxed);
}

bool pvm_interrupt_install(void)
{
    fences = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) != 0;
    return !pthread_atfork(NULL, NULL, interrupt_after_fork);
}

bool pvm_interrupt_fences(void) { return fences; }

/* The functions below send kicks. */

static void interrupt_hold(struct pvm_vm *vm)
{
    uint64_t now = atomic_load_explicit(&vm->kicks, memory_order_relaxed), next;
    do next = kicks_of_this_process(now) ? now + 1 : forks + 1;
    while (!atomic_compare_exchange_weak_explicit(&vm->kicks, &now, next, memory_order_seq_cst,
                                                  memory_order_relaxed));
}

static void thread_let_go(struct pvm_vm *vm)
{
    atomic_fetch_sub_explicit(&vm->kicks, 1, memory_order_release);
}

static void interrupt_barrier(void)
{
    if (!fences) syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
    atomic_thread_fence(memory_order_seq_cst);
}

static void send_kick(int thread)
{
    siginfo_t info = {.si_signo = SIGTRAP, .si_code = SI_QUEUE};
    info.si_pid = getpid();
    info.si_uid = getuid();
    info.si_value.sival_ptr = (void *)(uintptr_t)&kick_mark;
    syscall(SYS_rt_tgsigqueueinfo, info.si_pid, thread, SIGTRAP, &info);
}

void pvm_kick(penta_vm *base)
{
    struct pvm_vm *vm = pvm_vm(base);
    int error = errno; /* A signal handler may call this function, so errno must stay. */
    pvm_vm_interrupt(base);
    if (vm->cells->native->poll) return;
    interrupt_hold(vm);
    interrupt_barrier();
    int thread = atomic_load_explicit(&vm->runner, memory_order_seq_cst);
    if (thread) {
        send_kick(thread);
        atomic_fetch_or_explicit(&vm->kicks, SENT, memory_order_relaxed);
    }
    thread_let_go(vm);
    errno = error;
}

/* The functions below receive kicks. */

/* Tells whether a signal does not say who sent it. The kernel delivers it so when too many
 * signals wait to be delivered. */
static bool signal_without_sender(const siginfo_t *info)
{
    return info->si_code == SI_USER && !info->si_pid && !info->si_uid;
}

bool pvm_is_kick(const siginfo_t *info)
{
    if (info->si_code == SI_QUEUE) return info->si_value.sival_ptr == &kick_mark;
    return (pvm_running || settling) && signal_without_sender(info);
}

void pvm_kick_defer(void *context)
{
    if (!deferred) interrupt_hold(pvm_running);
    deferred = true;
    sigaddset(&((ucontext_t *)context)->uc_sigmask, SIGTRAP);
    send_kick(pvm_thread_number());
}

static void interrupt_unblock(void)
{
    sigset_t traps;
    sigemptyset(&traps);
    sigaddset(&traps, SIGTRAP);
    pthread_sigmask(SIG_UNBLOCK, &traps, NULL);
}

/* Waits until no kick is being sent. A signal that was sent arrives at the latest when the next
 * system call returns. */
void pvm_kick_wait(struct pvm_vm *vm)
{
    uint64_t now;
    int error = errno;
    bool was_deferred = deferred;
    settling = true;
    if (was_deferred) thread_let_go(vm);
    deferred = false;
    while (now = atomic_load_explicit(&vm->kicks, memory_order_acquire), interrupt_held(now))
        sched_yield();
    if (kicks_of_this_process(now))
        atomic_fetch_and_explicit(&vm->kicks, ~SENT, memory_order_relaxed);
    else
        atomic_compare_exchange_strong(&vm->kicks, &now, forks);
    syscall(SYS_gettid);
    if (was_deferred) interrupt_unblock();
    settling = false;
    errno = error;
}
