/* Opens paths without leaving a folder. */
#pragma once

/* Like openat, but nothing outside of the folder is reached, by no symbolic link and no "..". Returns a descriptor, or -1 and
 * errno: ENOSYS where the system cannot, EXDEV when the path would lead outside. */
int pvm_open_beneath(int folder, const char *path, int flags, unsigned mode);
