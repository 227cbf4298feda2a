#pragma once
#include <sys/types.h>
#ifdef __cplusplus
extern "C" {
#endif
#define GRND_NONBLOCK 1
#define GRND_RANDOM 2
ssize_t getrandom(void *to, size_t size, unsigned flags);
#ifdef __cplusplus
}
#endif
