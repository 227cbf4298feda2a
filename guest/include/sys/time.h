#pragma once
#include <sys/types.h>
#ifdef __cplusplus
extern "C" {
#endif
struct timeval {
    time_t tv_sec;
    suseconds_t tv_usec;
};
struct timezone {
    int tz_minuteswest, tz_dsttime;
};
#define timerisset(t) ((t)->tv_sec || (t)->tv_usec)
#define timerclear(t) ((t)->tv_sec = (t)->tv_usec = 0)
#define timercmp(a, b, op)                                                                         \
    ((a)->tv_sec == (b)->tv_sec ? (a)->tv_usec op(b)->tv_usec : (a)->tv_sec op(b)->tv_sec)
#define timeradd(a, b, sum)                                                                        \
    do {                                                                                           \
        (sum)->tv_sec = (a)->tv_sec + (b)->tv_sec;                                                 \
        (sum)->tv_usec = (a)->tv_usec + (b)->tv_usec;                                              \
        if ((sum)->tv_usec >= 1000000) (sum)->tv_sec++, (sum)->tv_usec -= 1000000;                 \
    } while (0)
#define timersub(a, b, difference)                                                                 \
    do {                                                                                           \
        (difference)->tv_sec = (a)->tv_sec - (b)->tv_sec;                                          \
        (difference)->tv_usec = (a)->tv_usec - (b)->tv_usec;                                       \
        if ((difference)->tv_usec < 0) (difference)->tv_sec--, (difference)->tv_usec += 1000000;   \
    } while (0)
int gettimeofday(struct timeval *into, void *zone);
int utimes(const char *path, const struct timeval times[2]);
#ifdef __cplusplus
}
#endif
