/* Functions of POSIX. C lets programs use these names for functions of their own: so nothing else in
 * the library uses this file, and it is only linked into programs that call them. */
#include <time.h>
#include <unistd.h>
#include "penta_console.h"
#include "system/system.h"

long read(int fd, void *to, size_t size) { return penta_system_result(console_read(fd, to, size)); }
long write(int fd, const void *from, size_t size)
{
    return penta_system_result(console_write(fd, from, size));
}
int usleep(unsigned microseconds) { return (int)penta_system_result(console_sleep(microseconds)); }
unsigned sleep(unsigned seconds)
{
    while (seconds--) console_sleep(1000000);
    return 0;
}

int nanosleep(const struct timespec *t, struct timespec *left)
{
    if (left) *left = (struct timespec){0};
    for (time_t s = 0; s < t->tv_sec; s++) console_sleep(1000000);
    return (int)console_sleep((unsigned long)t->tv_nsec / 1000);
}
