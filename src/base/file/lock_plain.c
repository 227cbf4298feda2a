/* Replaces lock.c on hosts that run one program, where no other process works in a folder. */
#include "base/file/lock.h"

bool folder_lock(const char *folder, int *fd, penta_error *err)
{
    (void)folder, (void)err;
    *fd = -1;
    return true;
}

bool folder_lock_within(const char *folder, unsigned seconds, int *fd, penta_error *err)
{
    (void)seconds;
    return folder_lock(folder, fd, err);
}

void folder_unlock(int fd) { (void)fd; }
