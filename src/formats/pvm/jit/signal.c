/* Handles signals of compiled code: faults of the guest, which the processor finds, and
 * interrupts.
 *
 * The handler takes what the processor reports about code of the machine that this thread runs,
 * and kicks (interrupt.h). After a fault of the guest the thread goes on at an exit of compiled
 * code, with the address of the fault in rcx; the exit saves the registers, which hold the
 * guest's state. Every other signal is passed on to the handler that was there before, in the
 * way in which the kernel would have called it.
 *
 * The handler runs on an alternate stack, so that an overflow of the host's own stack can still
 * be passed on. */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
#include "pvm/jit/jit.h"

/* `stepping` is set while the thread takes single machine steps through compiled code, to the
 * end of a guest instruction. */
static _Thread_local volatile bool stepping __attribute__((tls_model("initial-exec")));

static const int signals[] = {SIGSEGV, SIGBUS, SIGTRAP};
enum {
    SIGNALS = sizeof signals / sizeof *signals,
    GUARD = 4 << 10,
    STACK = 64 << 10,
    TRAP_FLAG = 0x100,
};
static struct sigaction before[SIGNALS];
/* For each signal `spent` says that the old handler had SA_RESETHAND and was called. */
static atomic_bool spent[SIGNALS];
static bool installed;

/* The functions below pass on signals that are not for compiled code. */

/* Tells whether the signal was sent, by kill for example. Nobody can send a signal that the
 * processor reports. */
static bool signal_was_sent(const siginfo_t *info) { return info->si_code <= 0; }

/* Blocks the signals that the kernel would have blocked for the old handler. */
static void signals_block_for(const struct sigaction *old, int sig, const ucontext_t *context)
{
    sigset_t outer, mask = old->sa_mask;
    sigemptyset(&outer);
    memcpy(&outer, &context->uc_sigmask, 8); /* The kernel's set of signals has 8 bytes. */
    sigorset(&mask, &mask, &outer);
    if (!(old->sa_flags & SA_NODEFER)) sigaddset(&mask, sig);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

/* Lets this signal end the process. A signal that the processor reported comes again by itself,
 * except traps, because a trap is reported after its instruction. */
static void process_end_by(int sig, siginfo_t *info)
{
    signal(sig, SIG_DFL);
    if (!signal_was_sent(info) && sig != SIGTRAP) return;
    if (syscall(SYS_rt_tgsigqueueinfo, getpid(), (int)syscall(SYS_gettid), sig, info)) raise(sig);
}

static void signal_pass_on(int sig, siginfo_t *info, void *context)
{
    int i = sig == SIGSEGV ? 0 : sig == SIGBUS ? 1 : 2;
    const struct sigaction *old = &before[i];
    bool called = old->sa_handler != SIG_DFL && old->sa_handler != SIG_IGN;
    if (called && old->sa_flags & (int)SA_RESETHAND) called = !atomic_exchange(&spent[i], true);
    if (called) {
        /* The mask lasts until our handler returns, which restores the old one. */
        signals_block_for(old, sig, context);
        if (old->sa_flags & SA_SIGINFO)
            old->sa_sigaction(sig, info, context);
        else
            old->sa_handler(sig);
    } else if (old->sa_handler != SIG_IGN || !signal_was_sent(info)) {
        process_end_by(sig, info);
    }
}

/* The functions below handle signals of compiled code. */

/* Returns where the thread is in the code of the machine that it runs, or 0 when it is somewhere
 * else. */
static uint32_t thread_code_offset(const struct pvm_native *n, const greg_t *regs)
{
    uintptr_t at = (uintptr_t)regs[REG_RIP], code = n ? (uintptr_t)n->code : 0;
    return n && at >= code && at - code < n->used ? (uint32_t)(at - code) : 0;
}

static void code_leave_by(const struct pvm_native *n, greg_t *regs, uint32_t exit)
{
    regs[REG_RCX] = regs[REG_RIP];
    regs[REG_RIP] = (greg_t)(uintptr_t)(n->code + exit);
}

/* Handles an interrupt of code that has no safe points. From wherever the thread is in the code,
 * it takes single machine steps to the end of the guest instruction, and leaves there with exact
 * state. In the entry it starts again at the test of the interrupt flag. In an exit, or outside
 * of the code, the flag will be tested anyway. */
static void signal_walk(const struct pvm_native *n, greg_t *regs)
{
    uint32_t at = thread_code_offset(n, regs), pc;
    bool paid;
    stepping = false;
    regs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
    if (at >= n->enter_check && at < n->enter_end) {
        regs[REG_RIP] = (greg_t)(uintptr_t)(n->code + n->enter_check);
    } else if (at >= n->exits_end) {
        if (pvm_native_between(n, at, &pc, &paid)) {
            code_leave_by(n, regs, n->leave_kick);
        } else {
            stepping = true;
            regs[REG_EFL] |= TRAP_FLAG;
        }
    }
}

/* Handles a SIGTRAP that was sent. Only one can be pending for a thread, so a SIGTRAP from
 * another sender may have displaced a kick. */
static void signal_on_sent_trap(siginfo_t *info, void *context)
{
    greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
    struct pvm_vm *vm = pvm_running;
    bool ours = pvm_is_kick(info);
    if (vm && atomic_load_explicit(&vm->base.interrupt, memory_order_relaxed)) {
        if (thread_code_offset(vm->cells->native, regs))
            signal_walk(vm->cells->native, regs);
        else
            pvm_kick_defer(context);
    }
    if (!ours) signal_pass_on(SIGTRAP, info, context);
}

static void signal_handle(int sig, siginfo_t *info, void *context)
{
    greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
    const struct pvm_native *n = pvm_running ? pvm_running->cells->native : NULL;
    uint32_t at = thread_code_offset(n, regs);
    if (sig == SIGTRAP && signal_was_sent(info)) {
        signal_on_sent_trap(info, context);
    } else if (sig == SIGTRAP && stepping && n && info->si_code != SI_KERNEL) {
        /* The code SI_KERNEL would mean that the processor met a breakpoint instruction. */
        signal_walk(n, regs);
    } else if (sig != SIGTRAP && !signal_was_sent(info) && n && at >= n->body &&
               at < n->cold_start) {
        stepping = false;
        regs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
        code_leave_by(n, regs, n->leave_fault);
    } else {
        signal_pass_on(sig, info, context);
    }
}

static pthread_key_t stack_key;
static _Thread_local bool ready;

/* Frees the alternate stack at the end of a thread. Later signals must not use that stack. A
 * thread that ends in a handler on this very stack keeps the stack. */
static void drop_stack(void *low)
{
    stack_t now, none = {.ss_flags = SS_DISABLE};
    bool used = !sigaltstack(NULL, &now) && !(now.ss_flags & SS_DISABLE) &&
                now.ss_sp == (uint8_t *)low + GUARD;
    ready = false;
    if (!used || !sigaltstack(&none, NULL)) munmap(low, GUARD + STACK);
}

static bool alternate_stack_make(void)
{
    stack_t now;
    if (sigaltstack(NULL, &now)) return false;
    if (!(now.ss_flags & SS_DISABLE)) return true;
    uint8_t *low = mmap(NULL, GUARD + STACK, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (low == MAP_FAILED) return false;
    stack_t mine = {.ss_sp = low + GUARD, .ss_size = STACK};
    bool ok = !mprotect(mine.ss_sp, STACK, PROT_READ | PROT_WRITE) &&
              !pthread_setspecific(stack_key, low);
    if (ok && !sigaltstack(&mine, NULL)) return true;
    if (ok) pthread_setspecific(stack_key, NULL);
    munmap(low, GUARD + STACK);
    return false;
}

bool pvm_signal_thread(void)
{
    if (!ready) ready = alternate_stack_make();
    return ready;
}

static void signal_install(void)
{
    struct sigaction action = {.sa_sigaction = signal_handle,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
    sigemptyset(&action.sa_mask);
    installed = !pthread_key_create(&stack_key, drop_stack) && pvm_interrupt_install();
    /* The old handlers are read first, because a signal may have to be passed on as soon as our
     * handlers are installed. */
    for (int i = 0; i < SIGNALS; i++)
        if (installed && sigaction(signals[i], NULL, &before[i])) installed = false;
    for (int i = 0; i < SIGNALS; i++)
        if (installed && sigaction(signals[i], &action, NULL)) installed = false;
}

bool pvm_signal_install(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, signal_install);
    return installed;
}
