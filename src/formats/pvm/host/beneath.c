/* Opens paths inside a folder by openat2 of Linux. A path may use symbolic links as long as they
 * stay inside the folder. */
#include "pvm/host/beneath.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { RENAMED = 16 }; /* how often a folder may be renamed while its path is followed */

int pvm_open_beneath(int folder, const char *path, int flags, unsigned mode)
{
    struct open_how how = {.flags = (unsigned)flags | O_CLOEXEC,
                           .mode = flags & O_CREAT ? mode : 0,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
    long fd = -1;
    errno = EAGAIN;
    for (int i = 0; fd < 0 && errno == EAGAIN && i < RENAMED; i++)
        fd = syscall(SYS_openat2, folder, path, &how, sizeof how);
    /* A filter of system calls may give EPERM for a call that it does not know. */
    if (fd < 0 && errno == EPERM) errno = ENOSYS;
    return (int)fd;
}
