/* Lets one process at a time work in a folder. The lock ends with its holder, however that ends. */
#pragma once
#include "base/error.h"

/* Takes the lock, or says who holds it: BASE_IO. It is on FOLDER/lock, which stays there and names
 * the holder. Processes that cannot write to the folder share the lock. *fd is -1 where there is
 * nothing to lock: in a folder that cannot be written and never was locked. */
bool folder_lock(const char *folder, int *fd, penta_error *err);
void folder_unlock(int fd); /* -1 is fine */
