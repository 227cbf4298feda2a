#pragma once
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif
typedef long long time_t;
typedef long long clock_t;
#define CLOCKS_PER_SEC 1000000LL
#define TIME_UTC 1
struct timespec {
    time_t tv_sec;
    long tv_nsec;
};
struct tm {
    int tm_sec, tm_min, tm_hour, tm_mday, tm_mon, tm_year, tm_wday, tm_yday, tm_isdst;
};
time_t time(time_t *into);
clock_t clock(void); /* since the program started */
double difftime(time_t a, time_t b);
int timespec_get(struct timespec *into, int base);
int nanosleep(const struct timespec *time, struct timespec *left);
struct tm *gmtime(const time_t *time);
struct tm *localtime(const time_t *time); /* the same: the clock is UTC */
time_t mktime(struct tm *tm);
#ifdef __cplusplus
}
#endif
