#pragma once
#ifdef __cplusplus
extern "C" {
#endif
int ioctl(int fd, unsigned long request, ...); /* nothing is known: fails with ENOTTY */
#ifdef __cplusplus
}
#endif
