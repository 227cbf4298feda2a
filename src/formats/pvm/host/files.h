/* Files of a program, all of them below one folder, which no path can leave. Errors are negative
 * numbers, the same on every host: they are part of the console's interface. */
#pragma once
#include "penta/penta.h"

/* flags of pvm_file_open */
enum pvm_file_flag {
    PVM_FILE_READ = 1,
    PVM_FILE_WRITE = 2,
    PVM_FILE_CREATE = 4,
    PVM_FILE_TRUNCATE = 8,
    PVM_FILE_APPEND = 16,
    PVM_FILE_EXCLUSIVE = 32, /* with CREATE: it must not exist */
    PVM_FILE_FLAGS = 63,
};

/* clang-format off */
enum pvm_file_error { /* what a program gets, negated */
    PVM_ENOENT = 2, PVM_EINTR = 4, PVM_EIO = 5, PVM_EBADF = 9, PVM_EACCES = 13, PVM_EFAULT = 14,
    PVM_EEXIST = 17, PVM_ENOTDIR = 20, PVM_EISDIR = 21, PVM_EINVAL = 22, PVM_EMFILE = 24,
    PVM_ENOSPC = 28, PVM_ENAMETOOLONG = 36,
};
/* clang-format on */

/* The negative number that a program gets for the host's errno. */
int pvm_file_error(int host_errno);
int pvm_folder_open(const char *path); /* a descriptor for `root` below; -1: errno says why */
/* root is a descriptor of the folder; -1: there is none, and everything is refused. A path is
 * relative to it, whether it starts with '/' or not; "..", symbolic links and anything but regular
 * files are refused. */
int pvm_file_open(int root, penta_bytes path, unsigned flags); /* a descriptor, or an error */
int pvm_file_remove(int root, penta_bytes path);               /* 0, or an error */
int pvm_file_rename(int root, penta_bytes from, penta_bytes to);
