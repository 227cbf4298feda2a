/* Samples a session with a timer of wall-clock time, because clocks of processor time tick only
 * every few milliseconds. A thread that does not run gets one signal however long it waits. So
 * the samples show the time in which the thread runs, and each wait for its host counts once. */
#include "cli/analysis/sampler.h"
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "cli/terminal/terminal.h"

enum { RATE = 1000 };

/* The session that the signal handler samples; NULL while no machine runs. */
static penta_session *volatile sampled;
static timer_t timer;
static bool running;

static void on_tick(int number, siginfo_t *info, void *context)
{
    int error = errno;
    (void)number, (void)info;
    if (sampled) penta_session_take_sample(sampled, context);
    errno = error;
}

static bool start_timer(uint64_t rate)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGPROF};
    event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
    long step = (long)(1000000000 / rate);
    struct itimerspec times = {.it_interval = {step / 1000000000, step % 1000000000}};
    times.it_value = times.it_interval;
    if (timer_create(CLOCK_MONOTONIC, &event, &timer)) return false;
    running = !timer_settime(timer, 0, &times, NULL);
    if (!running) timer_delete(timer);
    return running;
}

bool sampler_start(struct cli *c, penta_session *session)
{
    uint64_t rate = cli_number(c, OPT_RATE, RATE);
    struct sigaction action = {.sa_sigaction = on_tick, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigemptyset(&action.sa_mask);
    sampled = session;
    sigaction(SIGPROF, &action, NULL);
    if (start_timer(rate)) return true;
    penta_error err = {0};
    error_at(&err, BASE_IO, 0, "no timer for samples: %s", strerror(errno));
    cli_error(c, NULL, &err);
    sampled = NULL;
    return false;
}

void sampler_stop(void)
{
    if (running) timer_delete(timer);
    running = false;
    sampled = NULL;
    signal(SIGPROF, SIG_IGN); /* A signal that was sent before may still arrive. */
}
