/* openat2 of Linux. The path may use symbolic links as long as they stay inside. */
#include "pvm/host/beneath.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { RENAMED = 16 }; /* how often a folder may be renamed meanwhile */

int pvm_open_beneath(int folder, const char *path, int flags, unsigned mode)
{
    struct open_how how = {.flags = (unsigned)flags | O_CLOEXEC,
                           .mode = flags & O_CREAT ? mode : 0,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
    long fd = -1;
    errno = EAGAIN;
    for (int i = 0; fd < 0 && errno == EAGAIN && i < RENAMED; i++)
        fd = syscall(SYS_openat2, folder, path, &how, sizeof how);
    if (fd < 0 && errno == EPERM) errno = ENOSYS; /* what a filter of system calls may say */
    return (int)fd;
}
