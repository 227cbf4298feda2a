/* Replaces beneath.c where the system has no openat2. */
#include "pvm/host/beneath.h"
#include <errno.h>

int pvm_open_beneath(int folder, const char *path, int flags, unsigned mode)
{
    (void)folder, (void)path, (void)flags, (void)mode;
    errno = ENOSYS;
    return -1;
}
