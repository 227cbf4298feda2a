/* Implements descriptors, and what a program asks about itself. C lets programs use these names
 * for functions of their own, so the functions are weak, and nothing else in the library uses
 * them. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <unistd.h>
#include "penta_console.h"
#include "system/system.h"
#include "system/weak.h"

static int unistd_fails(int number)
{
    errno = number;
    return -1;
}

WEAK ssize_t read(int fd, void *to, size_t size)
{
    return penta_system_result(console_read(fd, to, size));
}
WEAK ssize_t write(int fd, const void *from, size_t size)
{
    return penta_system_result(console_write(fd, from, size));
}
WEAK int close(int fd) { return (int)penta_system_result(console_close(fd)); }

WEAK off_t lseek(int fd, off_t offset, int whence)
{
    if ((long)offset != offset) return unistd_fails(EOVERFLOW);
    return penta_system_result(console_seek(fd, (long)offset, whence));
}

/* Reads or writes at an offset and goes back to the old one. */
static long at_offset(int fd, off_t offset, long (*move)(int fd, void *bytes, size_t size),
                      void *bytes, size_t size)
{
    if (offset < 0) return -EINVAL;
    if ((long)offset != offset) return -EOVERFLOW;
    long back = console_seek(fd, 0, SEEK_CUR);
    if (back < 0) return back;
    long result = console_seek(fd, (long)offset, SEEK_SET);
    if (result >= 0) result = move(fd, bytes, size);
    console_seek(fd, back, SEEK_SET);
    return result;
}

static long move_in(int fd, void *bytes, size_t size) { return console_read(fd, bytes, size); }
static long move_out(int fd, void *bytes, size_t size) { return console_write(fd, bytes, size); }

WEAK ssize_t pread(int fd, void *to, size_t size, off_t offset)
{
    return penta_system_result(at_offset(fd, offset, move_in, to, size));
}
WEAK ssize_t pwrite(int fd, const void *from, size_t size, off_t offset)
{
    return penta_system_result(at_offset(fd, offset, move_out, (void *)from, size));
}

WEAK int fsync(int fd) { return (int)penta_system_result(console_sync(fd)); }
WEAK int fdatasync(int fd) { return (int)penta_system_result(console_sync(fd)); }
WEAK void sync(void) {}

WEAK int ftruncate(int fd, off_t size)
{
    uint64_t wanted = (uint64_t)size;
    return (int)penta_system_result(size < 0 ? -EINVAL : console_truncate(fd, &wanted));
}

WEAK int open(const char *path, int flags, ...)
{
    static const unsigned access[] = {CONSOLE_READ, CONSOLE_WRITE, CONSOLE_READ | CONSOLE_WRITE, 0};
    unsigned how = access[flags & O_ACCMODE];
    if (flags & O_CREAT) how |= CONSOLE_CREATE;
    if (flags & O_EXCL && flags & O_CREAT) how |= CONSOLE_EXCLUSIVE;
    if (flags & O_TRUNC) how |= CONSOLE_TRUNCATE;
    if (flags & O_APPEND) how |= CONSOLE_APPEND;
    if (flags & O_DIRECTORY) how = CONSOLE_FOLDER;
    long fd = penta_system_open(path, how);
    if (fd == -EISDIR && how == CONSOLE_READ) fd = penta_system_open(path, CONSOLE_FOLDER);
    return (int)penta_system_result(fd);
}

WEAK int creat(const char *path, mode_t mode)
{
    return open(path, O_WRONLY | O_CREAT | O_TRUNC, mode);
}

WEAK int fcntl(int fd, int command, ...)
{
    struct console_stat status;
    if (penta_system_result(console_fstat(fd, &status)) < 0) return -1;
    va_list args;
    va_start(args, command);
    struct flock *lock = command == F_GETLK ? va_arg(args, struct flock *) : NULL;
    va_end(args);
    switch (command) {
    case F_GETLK: lock->l_type = F_UNLCK; return 0;
    case F_GETFD:
    case F_SETFD:
    case F_SETFL:
    case F_SETLK:
    case F_SETLKW: return 0;
    case F_GETFL: return fd == 0 ? O_RDONLY : fd <= 2 ? O_WRONLY : O_RDWR;
    default: return unistd_fails(EINVAL);
    }
}

WEAK int posix_fadvise(int fd, off_t offset, off_t size, int advice)
{
    (void)fd, (void)offset, (void)size, (void)advice;
    return 0;
}

WEAK int ioctl(int fd, unsigned long request, ...)
{
    (void)fd, (void)request;
    return unistd_fails(ENOTTY);
}

WEAK int dup(int fd) { return (void)fd, unistd_fails(EMFILE); }
WEAK int dup2(int fd, int to) { return fd == to ? to : unistd_fails(EMFILE); }
WEAK int pipe(int ends[2]) { return (void)ends, unistd_fails(ENOSYS); }

WEAK int isatty(int fd)
{
    struct console_stat status;
    if (penta_system_result(console_fstat(fd, &status)) < 0) return 0;
    errno = ENOTTY;
    return 0;
}
WEAK char *ttyname(int fd)
{
    isatty(fd);
    return NULL;
}

WEAK pid_t getpid(void) { return 1; }
WEAK pid_t getppid(void) { return 0; }
WEAK uid_t getuid(void) { return 0; }
WEAK uid_t geteuid(void) { return 0; }
WEAK gid_t getgid(void) { return 0; }
WEAK gid_t getegid(void) { return 0; }
WEAK unsigned alarm(unsigned seconds) { return (void)seconds, 0; }

WEAK int gethostname(char *to, size_t size)
{
    static const char name[] = "penta";
    if (size < sizeof name) return unistd_fails(ENAMETOOLONG);
    memcpy(to, name, sizeof name);
    return 0;
}

WEAK long sysconf(int name)
{
    switch (name) {
    case _SC_ARG_MAX: return 131072;
    case _SC_CLK_TCK: return 100;
    case _SC_OPEN_MAX: return OPEN_MAX;
    case _SC_PAGESIZE: return 4096;
    case _SC_NPROCESSORS_CONF:
    case _SC_NPROCESSORS_ONLN: return 1;
    case _SC_PHYS_PAGES: return 1048576;
    default: return unistd_fails(EINVAL);
    }
}

WEAK long pathconf(const char *path, int name)
{
    (void)path;
    return name == _PC_PATH_MAX ? PATH_MAX : name == _PC_NAME_MAX ? NAME_MAX : unistd_fails(EINVAL);
}

WEAK int getpagesize(void) { return 4096; }
WEAK int getdtablesize(void) { return OPEN_MAX; }

WEAK ssize_t getrandom(void *to, size_t size, unsigned flags)
{
    (void)flags;
    return penta_system_result(console_random(to, size));
}

WEAK int getentropy(void *to, size_t size)
{
    if (size > 256) return unistd_fails(EIO);
    return penta_system_result(console_random(to, size)) < 0 ? -1 : 0;
}
