/* Faults of compiled code, found out by the processor.
 *
 * The handler looks at one thing: whether this thread runs a machine and the faulting instruction
 * is in its code. Then it lets the thread go on at the exit, with the place in rcx; the state of
 * the guest is in the registers, which the exit saves. Every other fault is somebody else's and
 * goes to the handler that was there before.
 *
 * It runs on an alternate stack, so that a host whose own stack is the problem can still be told. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
#include "pvm/jit.h"

_Thread_local struct pvm_vm *volatile pvm_running __attribute__((tls_model("initial-exec")));

/* The thread goes step by step through compiled code, to the end of an instruction. */
static _Thread_local volatile bool stepping __attribute__((tls_model("initial-exec")));
static _Thread_local int self __attribute__((tls_model("initial-exec")));

static const int signals[] = {SIGSEGV, SIGBUS, SIGTRAP};
enum { SIGNALS = sizeof signals / sizeof *signals, STACK = 64 << 10, TRAP_FLAG = 0x100 };
static struct sigaction before[SIGNALS];
static bool installed;
static pthread_key_t stack_key;
static const char kick_mark;   /* its address marks the signals that kicks send */

static void hand_on(int sig, siginfo_t *info, void *context)
{
    const struct sigaction *old = &before[sig == SIGSEGV ? 0 : sig == SIGBUS ? 1 : 2];
    if (old->sa_flags & SA_SIGINFO) {
        old->sa_sigaction(sig, info, context);
    } else if (old->sa_handler == SIG_DFL || old->sa_handler == SIG_IGN) {
        signal(sig, SIG_DFL);  /* the instruction faults again, and the process ends */
        if (info->si_code <= 0) raise(sig);
    } else {
        old->sa_handler(sig);
    }
}

/* The offset in the code of the machine that this thread runs; 0: somewhere else. */
static uint32_t offset_of(const struct pvm_native *n, const greg_t *regs)
{
    uintptr_t at = (uintptr_t)regs[REG_RIP], code = n ? (uintptr_t)n->code : 0;
    return n && at >= code && at - code < n->used ? (uint32_t)(at - code) : 0;
}

static void leave_by(const struct pvm_native *n, greg_t *regs, uint32_t exit)
{
    regs[REG_RCX] = regs[REG_RIP];
    regs[REG_RIP] = (greg_t)(uintptr_t)(n->code + exit);
}

static bool is_kick(const siginfo_t *info)
{
    return info->si_code == SI_QUEUE && info->si_value.sival_ptr == &kick_mark;
}

/* An interrupt without safe points in the code: from wherever it is, the thread takes single
 * machine steps to the end of the guest instruction, and leaves there with exact state. In the
 * entry it looks at the flag again; in an exit, or outside, it is on its way to somebody who
 * looks. */
static void walk(const struct pvm_native *n, greg_t *regs)
{
    uint32_t at = offset_of(n, regs), pc;
    bool paid;
    stepping = false;
    regs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
    if (at >= n->enter_check && at < n->enter_end) {
        regs[REG_RIP] = (greg_t)(uintptr_t)(n->code + n->enter_check);
    } else if (at >= n->exits_end) {
        if (pvm_native_between(n, at, &pc, &paid)) {
            leave_by(n, regs, n->leave_kick);
        } else {
            stepping = true;
            regs[REG_EFL] |= TRAP_FLAG;
        }
    }
}

static void on_signal(int sig, siginfo_t *info, void *context)
{
    greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
    struct pvm_vm *vm = pvm_running;
    const struct pvm_native *n = vm ? vm->cells->native : NULL;
    uint32_t at = offset_of(n, regs);
    if (is_kick(info)) {
        if (at && atomic_load_explicit(&vm->base.interrupt, memory_order_relaxed)) walk(n, regs);
    } else if (sig == SIGTRAP && stepping && n) {
        walk(n, regs);
    } else if (sig != SIGTRAP && at >= (n ? n->body : 1) && at < n->cold_start) {
        stepping = false;
        regs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
        leave_by(n, regs, n->leave_fault);
    } else {
        hand_on(sig, info, context);
    }
}

static void forget_self(void) { self = 0; }

static void install(void)
{
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    installed = !pthread_key_create(&stack_key, free) && !pthread_atfork(NULL, NULL, forget_self);
    for (int i = 0; i < SIGNALS; i++)
        if (installed && sigaction(signals[i], &action, &before[i])) installed = false;
}

bool pvm_signal_install(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, install);
    return installed;
}

static bool make_stack(void)
{
    stack_t now;
    if (sigaltstack(NULL, &now)) return false;
    if (!(now.ss_flags & SS_DISABLE)) return true;
    stack_t mine = {.ss_sp = malloc(STACK), .ss_size = STACK};
    if (!mine.ss_sp || pthread_setspecific(stack_key, mine.ss_sp) || sigaltstack(&mine, NULL)) {
        free(mine.ss_sp);
        return false;
    }
    return true;
}

bool pvm_signal_thread(void)
{
    static _Thread_local bool ready;
    if (!ready) ready = make_stack();
    return ready;
}

int pvm_signal_self(void)
{
    if (!self) self = (int)syscall(SYS_gettid);
    return self;
}

void pvm_signal_kick(penta_vm *base)
{
    int thread = atomic_load_explicit(&pvm_vm(base)->runner, memory_order_seq_cst);
    siginfo_t info = {.si_signo = SIGTRAP, .si_code = SI_QUEUE};
    if (thread && thread == (int)syscall(SYS_gettid)) {
        /* In a signal handler over compiled code: the kick has to wait for its return, which also
         * restores the mask. */
        sigset_t wait;
        sigemptyset(&wait);
        sigaddset(&wait, SIGTRAP);
        pthread_sigmask(SIG_BLOCK, &wait, NULL);
    }
    info.si_pid = getpid();
    info.si_uid = getuid();
    info.si_value.sival_ptr = (void *)(uintptr_t)&kick_mark;
    if (thread) syscall(SYS_rt_tgsigqueueinfo, info.si_pid, thread, SIGTRAP, &info);
}
