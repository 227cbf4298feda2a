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
int getrusage(int who, struct rusage *into);
int getpriority(int which, unsigned id);
int setpriority(int which, unsigned id, int priority);
#ifdef __cplusplus
}
#endif
