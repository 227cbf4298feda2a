/* Implements signals that a program raises itself. No other signals exist, so none is ever
 * blocked or pending. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include "penta_guest.h"
#include "system/system.h"
#include "system/weak.h"

static void (*handlers[NSIG])(int);
static sigset_t blocked;
static unsigned char flags_keep[NSIG]; /* set by sigaction, when the handler stays after a signal */

static int signal_bad(int number)
{
    if (number > 0 && number < NSIG) return 0;
    errno = EINVAL;
    return 1;
}

void (*signal(int number, void (*handler)(int)))(int)
{
    if (signal_bad(number) || number == SIGKILL) {
        errno = EINVAL;
        return SIG_ERR;
    }
    void (*old)(int) = handlers[number];
    handlers[number] = handler;
    flags_keep[number] = 1;
    return old;
}

/* The default action ends the program with a trap, except for signals that are ignored. */
int raise(int number)
{
    if (signal_bad(number)) return -1;
    void (*handler)(int) = handlers[number];
    if (handler == SIG_IGN) return 0;
    if (handler == SIG_DFL) {
        if (number == SIGCHLD) return 0;
        if (penta_flush_streams) penta_flush_streams();
        penta_trap();
    }
    if (!flags_keep[number]) handlers[number] = SIG_DFL;
    handler(number);
    return 0;
}

void abort(void)
{
    if (handlers[SIGABRT] != SIG_IGN) raise(SIGABRT);
    if (penta_flush_streams) penta_flush_streams();
    penta_trap();
}

WEAK int sigaction(int number, const struct sigaction *set, struct sigaction *old)
{
    if (signal_bad(number) || (set && number == SIGKILL)) {
        errno = EINVAL;
        return -1;
    }
    if (old) *old = (struct sigaction){.sa_handler = handlers[number]};
    if (!set) return 0;
    handlers[number] = set->sa_handler;
    flags_keep[number] = !((unsigned)set->sa_flags & SA_RESETHAND);
    return 0;
}

WEAK int sigemptyset(sigset_t *set) { return *set = 0, 0; }
WEAK int sigfillset(sigset_t *set) { return *set = ~(sigset_t)0, 0; }
WEAK int sigaddset(sigset_t *set, int number)
{
    return signal_bad(number) ? -1 : (*set |= (sigset_t)1 << number, 0);
}
WEAK int sigdelset(sigset_t *set, int number)
{
    return signal_bad(number) ? -1 : (*set &= ~((sigset_t)1 << number), 0);
}
WEAK int sigismember(const sigset_t *set, int number)
{
    return signal_bad(number) ? -1 : (int)(*set >> number & 1);
}
WEAK int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
    if (old) *old = blocked;
    if (!set) return 0;
    blocked = how == SIG_BLOCK ? blocked | *set : how == SIG_UNBLOCK ? blocked & ~*set : *set;
    return 0;
}
