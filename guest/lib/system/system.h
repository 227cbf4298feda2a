/* What the library asks of the machine and its host, one function each, so that a test can put
 * others in their place. */
#pragma once
#include <stddef.h>
#include <stdint.h>

char *system_sbrk(size_t n); /* the heap's new end, NULL when it cannot grow; n = 0 asks for it */
long system_write(int fd, const void *from, size_t size);
long system_read(int fd, void *to, size_t size);
long system_open(const char *path, unsigned flags);
long system_close(int fd);
long system_seek(int fd, long offset, int whence);
long system_result(long result); /* negative: errno is set, and it is -1 */
