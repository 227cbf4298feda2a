#pragma once
#include <sys/types.h>
#ifdef __cplusplus
extern "C" {
#endif
struct tms {
    clock_t tms_utime, tms_stime, tms_cutime, tms_cstime;
};
clock_t times(struct tms *into); /* The unit is 1/sysconf(_SC_CLK_TCK) seconds. */
#ifdef __cplusplus
}
#endif
