#pragma once
#include <sys/time.h>
#ifdef __cplusplus
extern "C" {
#endif
typedef unsigned long rlim_t;
struct rusage {
    struct timeval ru_utime, ru_stime;
    long ru_maxrss, ru_ixrss, ru_idrss, ru_isrss, ru_minflt, ru_majflt, ru_nswap, ru_inblock;
    long ru_oublock, ru_msgsnd, ru_msgrcv, ru_nsignals, ru_nvcsw, ru_nivcsw;
};
#define RUSAGE_SELF 0
#define RUSAGE_CHILDREN (-1)
#define PRIO_PROCESS 0
#define PRIO_PGRP 1
#define PRIO_USER 2
#define RLIM_INFINITY (~(rlim_t)0)
#define RLIMIT_CPU 0
#define RLIMIT_FSIZE 1
#define RLIMIT_DATA 2
#define RLIMIT_STACK 3
#define RLIMIT_CORE 4
#define RLIMIT_NOFILE 7
#define RLIMIT_AS 9
struct rlimit {
    rlim_t rlim_cur, rlim_max;
};
int getrlimit(int resource, struct rlimit *into);
int setrlimit(int resource, const struct rlimit *limit);
int getrusage(int who, struct rusage *into);
int getpriority(int which, unsigned id);
int setpriority(int which, unsigned id, int priority);
#ifdef __cplusplus
}
#endif
