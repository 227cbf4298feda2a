/* A folder that one process at a time works in. The lock goes with its holder, however that ends.
 */
#pragma once
#include "base/error.h"

/* Takes the lock, or says who holds it: BASE_IO. It is on FOLDER/lock, which stays there and
 * names the holder. Those who cannot write to the folder share it. *fd is -1 where there is nothing
 * to lock: a folder that cannot be written and never was locked. */
bool folder_lock(const char *folder, int *fd, penta_error *err);
void folder_unlock(int fd); /* -1 is fine */
