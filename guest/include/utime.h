#pragma once
#include <sys/types.h>
#ifdef __cplusplus
extern "C" {
#endif
struct utimbuf {
    time_t actime, modtime;
};
int utime(const char *path, const struct utimbuf *times);
#ifdef __cplusplus
}
#endif
