/* Implements a timer and its signal. They are globals, since a signal handler can reach nothing
 * else. */
#include "cli/machine/deadline.h"
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>

static volatile int deadline_over;
static bool deadline_runs;
static void (*volatile deadline_passed)(void);

static void deadline_signal(int number)
{
    (void)number;
    deadline_over = 1;
    deadline_passed();
}

static void deadline_nothing(void) {}

bool deadline_begin(struct cli *c, void (*passed)(void))
{
    const char *text = c->value[OPT_TIMEOUT];
    struct sigaction action = {.sa_handler = deadline_signal};
    if (deadline_runs || !text) return true;
    double seconds = strtod(text, NULL);
    deadline_runs = true;
    deadline_passed = passed ? passed : deadline_nothing;
    sigaction(SIGALRM, &action, NULL);
    struct itimerval timer = {
        .it_value = {(time_t)seconds, (suseconds_t)((seconds - (double)(time_t)seconds) * 1e6)}};
    if (!timer.it_value.tv_sec && !timer.it_value.tv_usec) timer.it_value.tv_usec = 1;
    /* The signal is repeated, because at the first one nothing may look at the flag. */
    timer.it_interval.tv_usec = 10000;
    setitimer(ITIMER_REAL, &timer, NULL);
    return true;
}

void deadline_end(void)
{
    struct itimerval off = {0};
    if (deadline_runs) {
        setitimer(ITIMER_REAL, &off, NULL);
        signal(SIGALRM, SIG_IGN);
    }
    deadline_runs = false;
    deadline_over = 0;
}

const volatile int *deadline_flag(void) { return &deadline_over; }

bool deadline_reported(struct cli *c, const char *file)
{
    penta_error err = {0};
    if (!deadline_over) return false;
    error_at(&err, BASE_STATE, 0, "deadline: the %.20s seconds of --timeout are over",
             c->value[OPT_TIMEOUT]);
    cli_error(c, file, &err);
    cli_fail(c, EXIT_DEADLINE);
    return true;
}
