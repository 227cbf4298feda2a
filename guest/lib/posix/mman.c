/* Implements mmap with memory from the heap, in whole pages. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "system/weak.h"

enum { PAGE = 4096 };

static void *mman_fails(int number)
{
    errno = number;
    return MAP_FAILED;
}

WEAK void *mmap(void *address, size_t size, int rights, int flags, int fd, off_t offset)
{
    (void)address, (void)fd, (void)offset;
    if (!size) return mman_fails(EINVAL);
    if (!(flags & MAP_ANONYMOUS)) return mman_fails(ENODEV);
    if (flags & MAP_FIXED || rights & PROT_EXEC) return mman_fails(ENOTSUP);
    if (size > SIZE_MAX - PAGE) return mman_fails(ENOMEM);
    size = (size + PAGE - 1) / PAGE * PAGE;
    void *p = aligned_alloc(PAGE, size);
    return p ? memset(p, 0, size) : mman_fails(ENOMEM);
}

WEAK int munmap(void *address, size_t size)
{
    if (!size || (uintptr_t)address % PAGE) {
        errno = EINVAL;
        return -1;
    }
    free(address);
    return 0;
}

WEAK int mprotect(void *address, size_t size, int rights)
{
    (void)address, (void)size;
    if (!(rights & PROT_EXEC)) return 0;
    errno = ENOTSUP;
    return -1;
}

WEAK int msync(void *address, size_t size, int flags)
{
    (void)address, (void)size, (void)flags;
    return 0;
}
