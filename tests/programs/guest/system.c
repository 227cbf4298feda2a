/* Implements, for this machine, the functions that the guest's library needs from its machine. */
#include <stdlib.h>

int guest_errno;
static char heap[64 << 20];
size_t heap_end = 8; /* The heap is not aligned at the start. */
char *guest_penta_system_sbrk(size_t n)
{
    if (n > sizeof heap - heap_end) return NULL;
    heap_end += n;
    return heap + heap_end;
}
long guest_penta_system_write(int fd, const void *from, size_t size)
{
    return (void)fd, (void)from, (long)size;
}
long guest_penta_system_read(int fd, void *to, size_t size)
{
    return (void)fd, (void)to, (void)size, 0;
}
long guest_penta_system_open(const char *path, unsigned flags)
{
    return (void)path, (void)flags, -2;
}
long guest_penta_system_close(int fd) { return (void)fd, 0; }
long guest_penta_system_seek(int fd, long offset, int whence)
{
    return (void)fd, (void)offset, (void)whence, -9;
}
long guest_penta_system_result(long result)
{
    if (result < 0) guest_errno = (int)-result;
    return result < 0 ? -1 : result;
}
void guest_abort(void) { abort(); }
char **guest_environ;
void (*guest_penta_flush_streams)(void);
