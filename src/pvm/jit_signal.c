/* Faults of compiled code, found out by the processor.
 *
 * The handler looks at one thing: whether this thread runs a machine and the faulting instruction is
 * in its code. Then it lets the thread go on at the exit, with the place in rcx; the state of the
 * guest is in the registers, which the exit saves. Every other fault is somebody else's and goes to
 * the handler that was there before.
 *
 * It runs on an alternate stack, so that a host whose own stack is the problem can still be told. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include "pvm/jit.h"

_Thread_local struct pvm_vm *volatile pvm_running __attribute__((tls_model("initial-exec")));

static const int signals[] = {SIGSEGV, SIGBUS};
enum { SIGNALS = sizeof signals / sizeof *signals, STACK = 64 << 10 };
static struct sigaction before[SIGNALS];
static bool installed;
static pthread_key_t stack_key;

static void hand_on(int sig, siginfo_t *info, void *context)
{
    const struct sigaction *old = &before[sig == SIGSEGV ? 0 : 1];
    if (old->sa_flags & SA_SIGINFO) {
        old->sa_sigaction(sig, info, context);
    } else if (old->sa_handler == SIG_DFL || old->sa_handler == SIG_IGN) {
        signal(sig, SIG_DFL);  /* the instruction faults again, and the process ends */
    } else {
        old->sa_handler(sig);
    }
}

static void on_signal(int sig, siginfo_t *info, void *context)
{
    ucontext_t *u = context;
    greg_t *regs = u->uc_mcontext.gregs;
    const struct pvm_vm *vm = pvm_running;
    const struct pvm_native *n = vm ? vm->cells->native : NULL;
    uintptr_t at = (uintptr_t)regs[REG_RIP], code = n ? (uintptr_t)n->code : 0;
    if (n && at >= code + n->body && at < code + n->cold_start) {
        regs[REG_RCX] = (greg_t)at;
        regs[REG_RIP] = (greg_t)(code + n->leave_fault);
        return;
    }
    hand_on(sig, info, context);
}

static void install(void)
{
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    installed = !pthread_key_create(&stack_key, free);
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
