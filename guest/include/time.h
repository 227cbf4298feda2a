#pragma once
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif
typedef long long time_t;
typedef long long clock_t;
typedef int clockid_t;
#define CLOCKS_PER_SEC 1000000LL
#define TIME_UTC 1
#define CLOCK_REALTIME 0
#define CLOCK_MONOTONIC 1
#define CLOCK_PROCESS_CPUTIME_ID 2
#define CLOCK_THREAD_CPUTIME_ID 3
#define CLOCK_MONOTONIC_RAW 4
#define CLOCK_REALTIME_COARSE 5
#define CLOCK_MONOTONIC_COARSE 6
#define CLOCK_BOOTTIME 7
struct timespec {
    time_t tv_sec;
    long tv_nsec;
};
struct tm {
    int tm_sec, tm_min, tm_hour, tm_mday, tm_mon, tm_year, tm_wday, tm_yday, tm_isdst;
    long tm_gmtoff; /* always 0 */
    const char *tm_zone;
};
time_t time(time_t *into);
clock_t clock(void); /* Counts since the program started. */
double difftime(time_t a, time_t b);
int timespec_get(struct timespec *into, int base);
int nanosleep(const struct timespec *time, struct timespec *left);
struct tm *gmtime(const time_t *time);
struct tm *localtime(const time_t *time); /* The time zone is UTC, so this is the same as gmtime. */
struct tm *gmtime_r(const time_t *time, struct tm *into);
struct tm *localtime_r(const time_t *time, struct tm *into);
time_t mktime(struct tm *tm); /* Returns -1 with EOVERFLOW when the year is too large. */
time_t timegm(struct tm *tm);
size_t strftime(char *to, size_t size, const char *format, const struct tm *tm);
char *asctime(const struct tm *tm);
char *ctime(const time_t *time);
char *asctime_r(const struct tm *tm, char *to); /* `to` has at least 26 bytes. */
char *ctime_r(const time_t *time, char *to);
int clock_gettime(clockid_t which, struct timespec *into);
int clock_getres(clockid_t which, struct timespec *into);
extern char *tzname[2];
extern long timezone;
extern int daylight;
void tzset(void);
#ifdef __cplusplus
}
#endif
