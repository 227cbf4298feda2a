/* Implements resources for one process with one priority, whose time is that of clock(). */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

int getrusage(int who, struct rusage *into)
{
    memset(into, 0, sizeof *into);
    if (who != RUSAGE_SELF && who != RUSAGE_CHILDREN) {
        errno = EINVAL;
        return -1;
    }
    clock_t ticks = who == RUSAGE_SELF ? clock() : 0;
    into->ru_utime.tv_sec = ticks / CLOCKS_PER_SEC;
    into->ru_utime.tv_usec = (suseconds_t)(ticks % CLOCKS_PER_SEC * 1000000 / CLOCKS_PER_SEC);
    return 0;
}

int getpriority(int which, unsigned id)
{
    (void)which;
    (void)id;
    return 0;
}

int setpriority(int which, unsigned id, int priority)
{
    (void)which;
    (void)id;
    if (!priority) return 0;
    errno = EACCES;
    return -1;
}

/* Only open files are limited by the library itself. The host has limits of its own. */
int getrlimit(int resource, struct rlimit *into)
{
    into->rlim_cur = into->rlim_max = resource == RLIMIT_NOFILE ? OPEN_MAX : RLIM_INFINITY;
    return 0;
}

int setrlimit(int resource, const struct rlimit *limit)
{
    struct rlimit now;
    getrlimit(resource, &now);
    if (limit->rlim_cur == now.rlim_cur && limit->rlim_max == now.rlim_max) return 0;
    errno = EPERM;
    return -1;
}
