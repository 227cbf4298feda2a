/* A small part of POSIX. */
#pragma once
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif
#define STDIN_FILENO 0
#define STDOUT_FILENO 1
#define STDERR_FILENO 2
long read(int fd, void *to, size_t size);
long write(int fd, const void *from, size_t size);
int usleep(unsigned microseconds);
unsigned sleep(unsigned seconds);
__attribute__((noreturn)) void _exit(int code);
#ifdef __cplusplus
}
#endif
