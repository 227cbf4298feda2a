/* Lets one process at a time work in a folder. The lock ends with its holder, however that ends. */
#pragma once
#include "base/error.h"

/* Takes the lock, or fails with BASE_IO and says who holds it. The lock is on FOLDER/lock, a
 * file that stays there and names the holder. Processes that cannot write to the folder share
 * the lock. *fd is -1 when there is nothing to lock: the folder cannot be written and never was
 * locked. */
bool folder_lock(const char *folder, int *fd, penta_error *err);
/* Takes the lock as folder_lock does, but waits up to so many seconds for the holder. */
bool folder_lock_within(const char *folder, unsigned seconds, int *fd, penta_error *err);
void folder_unlock(int fd); /* Does nothing when fd is -1. */
