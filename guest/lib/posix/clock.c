/* Implements clocks by asking the host. */
#include <errno.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>
#include "penta_console.h"
#include "system/system.h"
#include "system/weak.h"

static uint64_t clock_now(int which)
{
    uint64_t nanoseconds = 0;
    console_clock(which, &nanoseconds);
    return nanoseconds;
}

time_t time(time_t *into)
{
    time_t t = (time_t)(clock_now(0) / 1000000000);
    if (into) *into = t;
    return t;
}

clock_t clock(void) { return (clock_t)(clock_now(1) / 1000); }
double difftime(time_t a, time_t b) { return (double)(a - b); }

int timespec_get(struct timespec *into, int base)
{
    uint64_t t = clock_now(0);
    *into = (struct timespec){(time_t)(t / 1000000000), (long)(t % 1000000000)};
    return base;
}

WEAK int clock_gettime(clockid_t which, struct timespec *into)
{
    if (which < CLOCK_REALTIME || which > CLOCK_BOOTTIME) return (int)penta_system_result(-EINVAL);
    uint64_t t = clock_now(which != CLOCK_REALTIME && which != CLOCK_REALTIME_COARSE);
    *into = (struct timespec){(time_t)(t / 1000000000), (long)(t % 1000000000)};
    return 0;
}

WEAK int clock_getres(clockid_t which, struct timespec *into)
{
    if (which < CLOCK_REALTIME || which > CLOCK_BOOTTIME) return (int)penta_system_result(-EINVAL);
    if (into) *into = (struct timespec){0, 1};
    return 0;
}

WEAK int gettimeofday(struct timeval *into, void *zone)
{
    (void)zone;
    uint64_t t = clock_now(0);
    *into = (struct timeval){(time_t)(t / 1000000000), (suseconds_t)(t % 1000000000 / 1000)};
    return 0;
}

WEAK clock_t times(struct tms *into)
{
    /* There are 100 ticks in a second, as sysconf says. */
    clock_t ticks = (clock_t)(clock_now(1) / 10000000);
    if (into) *into = (struct tms){.tms_utime = ticks};
    return ticks;
}

WEAK int usleep(useconds_t microseconds)
{
    return (int)penta_system_result(console_sleep(microseconds));
}

WEAK unsigned sleep(unsigned seconds)
{
    while (seconds--) console_sleep(1000000);
    return 0;
}

WEAK int nanosleep(const struct timespec *t, struct timespec *left)
{
    if (t->tv_nsec < 0 || t->tv_nsec > 999999999 || t->tv_sec < 0)
        return (int)penta_system_result(-EINVAL);
    if (left) *left = (struct timespec){0};
    for (time_t s = 0; s < t->tv_sec; s++) console_sleep(1000000);
    return (int)penta_system_result(console_sleep((unsigned long)t->tv_nsec / 1000));
}
