#pragma once
#ifdef __cplusplus
extern "C" {
#endif
int ioctl(int fd, unsigned long request, ...); /* Fails with ENOTTY for every request. */
#ifdef __cplusplus
}
#endif
