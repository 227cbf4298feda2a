#include "system/system.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "penta_console.h"

int errno;

long penta_system_result(long result)
{
    if (result >= 0) return result;
    errno = (int)-result;
    return -1;
}

char *penta_system_sbrk(size_t n) { return penta_sbrk(n); }
long penta_system_write(int fd, const void *from, size_t size)
{
    return console_write(fd, from, size);
}
long penta_system_read(int fd, void *to, size_t size) { return console_read(fd, to, size); }
long penta_system_close(int fd) { return console_close(fd); }
long penta_system_seek(int fd, long offset, int whence) { return console_seek(fd, offset, whence); }
long penta_system_open(const char *path, unsigned flags)
{
    return console_open(path, strlen(path), flags);
}

int remove(const char *path)
{
    return (int)penta_system_result(console_remove(path, strlen(path)));
}
int rename(const char *from, const char *to)
{
    return (int)penta_system_result(console_rename(from, strlen(from), to, strlen(to)));
}
