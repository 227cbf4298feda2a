#include "system/system.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "penta_console.h"

int errno;

long system_result(long result)
{
    if (result >= 0) return result;
    errno = (int)-result;
    return -1;
}

char *system_sbrk(size_t n) { return penta_sbrk(n); }
long system_write(int fd, const void *from, size_t size) { return console_write(fd, from, size); }
long system_read(int fd, void *to, size_t size) { return console_read(fd, to, size); }
long system_close(int fd) { return console_close(fd); }
long system_seek(int fd, long offset, int whence) { return console_seek(fd, offset, whence); }
long system_open(const char *path, unsigned flags)
{
    return console_open(path, strlen(path), flags);
}

long read(int fd, void *to, size_t size) { return system_result(console_read(fd, to, size)); }
long write(int fd, const void *from, size_t size)
{
    return system_result(console_write(fd, from, size));
}
int usleep(unsigned microseconds) { return (int)system_result(console_sleep(microseconds)); }
unsigned sleep(unsigned seconds)
{
    while (seconds--) console_sleep(1000000);
    return 0;
}

int remove(const char *path) { return (int)system_result(console_remove(path, strlen(path))); }
int rename(const char *from, const char *to)
{
    return (int)system_result(console_rename(from, strlen(from), to, strlen(to)));
}
