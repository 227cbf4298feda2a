/* Opens paths without leaving a folder. */
#pragma once

/* Opens a path as openat does, but reaches nothing outside of the folder, by no symbolic link
 * and no "..". Returns a descriptor, or -1 and errno: ENOSYS where the system cannot do this,
 * EXDEV when the path would lead outside. */
int pvm_open_beneath(int folder, const char *path, int flags, unsigned mode);
