/* What the library asks of the machine and its host, one function each, so that a test can put
 * others in their place. */
#pragma once
#include <stddef.h>
#include <stdint.h>

char *
penta_system_sbrk(size_t n); /* the heap's new end, NULL when it cannot grow; n = 0 asks for it */
long penta_system_write(int fd, const void *from, size_t size);
long penta_system_read(int fd, void *to, size_t size);
long penta_system_open(const char *path, unsigned flags);
long penta_system_close(int fd);
long penta_system_seek(int fd, long offset, int whence);
long penta_system_result(long result); /* negative: errno is set, and it is -1 */
